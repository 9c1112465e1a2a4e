import type { Caller } from '#kernel';
import type { PermissionWithParsedRule } from '../../access/contract.ts';
import { mergePermissionFields } from '../../access/library.ts';
import { fieldColumnListSql } from '../../query/library.ts';
import type { Collection } from '../../schema/contract.ts';
import type { ItemPermissions, ItemsEngine } from '../contract.ts';
import type { ItemsEngineDeps } from '../deps.ts';
import {
  type CollectionInSnapshot,
  parseKeyValue,
  requireKeyField,
  requireServedCollection,
} from '../find-collection-and-key.ts';
import { createKeyCondition, tableSql } from '../write/sql.ts';

const ACTIONS = ['update', 'delete', 'share'] as const;
const NO_PERMISSIONS: ItemPermissions = {
  update: { access: false },
  delete: { access: false },
  share: { access: false },
};
const ALL_PERMISSIONS: ItemPermissions = {
  update: { access: true, fields: ['*'] },
  delete: { access: true },
  share: { access: true },
};

/** See `Items.itemPermissions`. */
export function createItemPermissionsReader(
  deps: Pick<ItemsEngineDeps, 'access' | 'db' | 'query' | 'schema'>,
): ItemsEngine['itemPermissions'] {
  const { access, schema } = deps;
  return async (caller, name, key) => {
    const { admin, of } = await access.permissions(caller);
    // This check comes before the collection is looked up, so that a missing collection is answered like a forbidden
    // one.
    if (!admin && ['create', ...ACTIONS].every((action) => of(name, action as 'create').length === 0))
      return NO_PERMISSIONS;
    if (admin) {
      await requireServedCollection(schema, name);
      return ALL_PERMISSIONS;
    }
    const schemaSnapshot = await schema.snapshot();
    const collection = schemaSnapshot.collections.get(name);
    if (collection?.kind !== 'table' || !collection.hasKey) return NO_PERMISSIONS;
    const rules = await access.rowPermissions(collection, ACTIONS, caller, schemaSnapshot);
    if (key === undefined && !collection.singleton) return toItemPermissions(collection, rules);
    const matching = await findMatchingPermissions(deps, { caller, collection, schemaSnapshot }, rules, key);
    if (matching) return toItemPermissions(collection, matching);
    const created = of(name, 'create');
    if (key !== undefined || created.length === 0) return NO_PERMISSIONS;
    // The first change of a singleton creates its row.
    return { ...NO_PERMISSIONS, update: { access: true, ...mergePermissionFields(collection, created) } };
  };
}

/** The permissions that apply to the row, by one statement; undefined where the row does not exist. */
async function findMatchingPermissions(
  { db, query }: Pick<ItemsEngineDeps, 'db' | 'query'>,
  { caller, collection, schemaSnapshot }: CollectionInSnapshot & { readonly caller: Caller },
  rules: readonly PermissionWithParsedRule[],
  raw: unknown,
): Promise<readonly PermissionWithParsedRule[] | undefined> {
  const key = requireKeyField(collection);
  const own = raw === undefined ? undefined : castOrNull(() => parseKeyValue(key, raw));
  if (own === null) return undefined;
  const row = own === undefined ? undefined : createKeyCondition(key, [own], 1);
  const params: unknown[] = row ? [row.value] : [];
  const holds = rules.map(({ where }) => {
    const condition = query.compileCondition(where, caller, schemaSnapshot, params.length + 1);
    params.push(...condition.params);
    return `coalesce((${condition.text}), false)`;
  });
  const rowClause = row ? `where ${row.sql}` : `order by ${fieldColumnListSql('t', key).join(', ')} limit 1`;
  const text = `select json_build_array(${holds.join(', ')})::text from ${tableSql(collection)} t ${rowClause}`;
  const found = await db.first(text, params);
  if (!found) return undefined;
  const answers: readonly boolean[] = JSON.parse(found[0] as string);
  return rules.filter((_rule, at) => answers[at]);
}

/** Casts a key; null for a key of the wrong type, which identifies no row. */
function castOrNull<T>(cast: () => T): T | null {
  try {
    return cast();
  } catch {
    return null;
  }
}

function toItemPermissions(collection: Collection, rules: readonly PermissionWithParsedRule[]): ItemPermissions {
  const by = (action: PermissionWithParsedRule['action']) => rules.filter((one) => one.action === action);
  const updates = by('update').map(({ permission }) => permission);
  return {
    update: updates.length > 0 ? { access: true, ...mergePermissionFields(collection, updates) } : { access: false },
    delete: { access: by('delete').length > 0 },
    share: { access: by('share').length > 0 },
  };
}
