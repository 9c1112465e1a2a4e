import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { ConditionTree } from '../../query/contract.ts';
import type { SchemaOverview } from '../../schema/contract.ts';
import type { Permission, PermissionSet, SharedItem } from '../contract.ts';
import { SCHEMA_READ_PERMISSIONS } from '../permissions/app-minimum.ts';
import { createPermissionSet } from '../permissions/permission-set.ts';
import type { PermissionRowRules } from '../restrict/row-rules.ts';
import { findReachableRows } from './reachable-rows.ts';

/** Number of shares whose permissions are cached. */
const MAX_CACHED_SHARES = 1000;
const NONE: readonly Permission[] = [];

interface Deps {
  readonly find: (share: string) => Promise<SharedItem | undefined>;
  /** The stored permissions of a role, without those of app access; null is the Public role. */
  readonly permissionsOfRole: (role: string | null) => Promise<PermissionSet>;
  readonly snapshot: () => Promise<SchemaOverview>;
  readonly rules: PermissionRowRules;
}

interface CachedSet {
  readonly source: readonly unknown[];
  readonly set: PermissionSet;
}

/**
 * The permissions of a share's visitors: to read what the share's role may read, as far as it is reachable from the shared item, and
 * the schema. Made once for a share, and again when its role's permissions or the tables change.
 */
export function createSharePermissions({ find, permissionsOfRole, snapshot, rules }: Deps) {
  const cache = new LRUCache<string, CachedSet>({ max: MAX_CACHED_SHARES });

  return async (share: string): Promise<PermissionSet> => {
    const shared = await find(share);
    // The share ended while its visitor's request ran; later requests are refused before.
    if (!shared) return createPermissionSet('', `share ${share}`, []);
    const [role, schema] = [await permissionsOfRole(shared.role), await snapshot()];
    const source = [role, schema.version, shared.collection, shared.item];
    const cached = cache.get(share);
    if (cached && source.every((one, at) => one === cached.source[at])) return cached.set;
    const set = createSharePermissionSet(shared, role, schema, rules);
    cache.set(share, { source, set });
    return set;
  };
}

function createSharePermissionSet(
  shared: SharedItem,
  role: PermissionSet,
  schema: SchemaOverview,
  rules: PermissionRowRules,
): PermissionSet {
  const { collection, item } = shared;
  let latest: { version: string; rows: ReadonlyMap<string, ConditionTree> } | undefined;
  // A request may hold another schema snapshot than the one of this moment.
  const reachable = (current: SchemaOverview) => {
    if (latest?.version !== current.version)
      latest = {
        version: current.version,
        rows: findReachableRows({ set: role, schema: current, rules }, shared),
      };
    return latest.rows;
  };
  const reads = new Map<string, readonly Permission[]>([
    ...[...reachable(schema).keys()].map((name) => [name, role.of(name, 'read').map(withRule)] as const),
    ...SCHEMA_READ_PERMISSIONS.map((one) => [one.collection, [one]] as const),
  ]);
  return {
    version: role.version,
    key: `share ${JSON.stringify([role.key, collection, item])}`,
    fieldsKey: `share ${JSON.stringify([role.key, collection])}`,
    digest: createHash('sha256')
      .update(JSON.stringify([role.digest, collection, item]))
      .digest('base64url'),
    admin: false,
    minimum: NONE,
    of: (name, action) => (action === 'read' ? (reads.get(name) ?? NONE) : NONE),
    reachable,
  };
}

/** No permission of a share is for all rows, so that none looks like it where only the rule is looked at. */
const withRule = (one: Permission): Permission => ({ ...one, rule: { _and: one.rule ? [one.rule] : [] } });
