import type { CacheCandidate } from '../../cluster/contract.ts';
import type { Db } from '../../database/contract.ts';
import { type AddressRange, parseIpRange } from '../../outbound/library.ts';
import { PERMISSION_ACTIONS, type Permission, type PermissionAction, type Role } from '../contract.ts';

interface PermissionRow {
  readonly writing: boolean;
  readonly collection: string | null;
  readonly action: string;
  readonly permissions: string | null;
  readonly validation: string | null;
  readonly presets: string | null;
  readonly fields: string | null;
}

/** Reads the stored permissions of a role, in one statement. */
export function createPermissionReader(db: Db): (role: string) => Promise<CacheCandidate<readonly Permission[]>> {
  const PERMISSIONS = db.sql`select pg_current_xact_id_if_assigned() is not null as writing,
      p.collection, p.action, p.permissions::text, p.validation::text, p.presets::text, p.fields
    from (select) one left join ${db.read('platform_permissions')} p on p.role = $1 order by p.id`;
  return async (role) => {
    const { rows } = await db.query<PermissionRow>(PERMISSIONS, [role], { name: 'access_permissions' });
    return {
      value: rows.flatMap((row) => toPermission(row) ?? []),
      cacheable: !rows[0]?.writing,
    };
  };
}

function toPermission({
  collection,
  action,
  permissions,
  validation,
  presets,
  fields,
}: PermissionRow): Permission | undefined {
  if (collection === null || !PERMISSION_ACTIONS.includes(action as PermissionAction)) return undefined;
  return {
    collection,
    action: action as PermissionAction,
    rule: parseRule(permissions),
    validation: parseRule(validation),
    presets: parseRule(presets),
    fields: parseList(fields),
  };
}

/** Parses a stored filter; an empty object counts as null. */
function parseRule(text: string | null): Record<string, unknown> | null {
  const value: unknown = text === null ? null : JSON.parse(text);
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value === null ? null : MATCH_NONE;
  return Object.keys(value).length > 0 ? (value as Record<string, unknown>) : null;
}

/**
 * Stands in for a stored rule that is not an object. No collection has a field with an empty name, so the rule matches no row.
 */
const MATCH_NONE: Record<string, unknown> = { '': { _submitted: true } };

const parseList = (text: string | null): readonly string[] =>
  (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** Parses the `ip_access` list of a role. Skips malformed entries, which match no address. */
function parseRanges(entries: readonly string[]): readonly AddressRange[] | undefined {
  if (entries.length === 0) return undefined;
  return entries.flatMap((entry) => {
    try {
      return parseIpRange(entry);
    } catch {
      return [];
    }
  });
}

interface RoleRow {
  readonly writing: boolean;
  readonly id: string | null;
  readonly admin_access: boolean;
  readonly app_access: boolean;
  readonly ip_access: string | null;
}

export function createRoleReader(db: Db): (role: string) => Promise<CacheCandidate<Role | undefined>> {
  const ROLE = db.sql`select pg_current_xact_id_if_assigned() is not null as writing,
      r.id, r.admin_access, r.app_access, r.ip_access
    from (select) one left join ${db.read('platform_roles')} r on r.id = $1`;
  return async (role) => {
    const { rows } = await db.query<RoleRow>(ROLE, [role], { name: 'access_role' });
    const row = rows[0];
    return {
      value: row?.id
        ? { id: row.id, admin: row.admin_access, app: row.app_access, addresses: parseRanges(parseList(row.ip_access)) }
        : undefined,
      cacheable: !row?.writing,
    };
  };
}
