import { Failure } from '#kernel';
import type { ConditionTree, FieldReference, ReachableRows } from '../../query/contract.ts';
import { keyColumns, parsePrimaryKeyValue } from '../../query/library.ts';
import type { Collection, Field } from '../../schema/contract.ts';
import type { SharedItem } from '../contract.ts';
import type { PermissionRestrictionContext } from '../restrict/row-rules.ts';

/** The most relations on one path from the shared item. A many-to-many takes two, through its junction collection. */
export const MAX_RELATIONS = 6;
/** The most paths of one share; the shortest ones count. */
export const MAX_PATHS = 200;

interface Path {
  readonly rows: ReachableRows;
  /** The field that the path came by; undefined at the shared item. */
  readonly by?: Field;
  /** Names of the collections on the path. */
  readonly visited: readonly string[];
}

/**
 * The conditions on the rows that visitors of a share may read, by collection: the shared item, and the rows to which relations lead
 * from it. Each row on a path must be readable by the role, and each relation be a field that the role may read. A path that comes to
 * a collection it has been to ends there: its last row may be read, and is not followed further. Rows without a key are left out.
 * @param context the permissions of the share's role
 */
export function findReachableRows(
  context: PermissionRestrictionContext,
  shared: SharedItem,
): ReadonlyMap<string, ConditionTree> {
  const start = findSharedItem(context, shared);
  const found = new Map<string, ReachableRows[]>();
  const open: Path[] = start ? [{ rows: start, visited: [shared.collection] }] : [];
  let count = 0;
  for (const path of open) {
    if (count++ === MAX_PATHS) break;
    const { name } = path.rows.collection;
    found.set(name, [...(found.get(name) ?? []), path.rows]);
    const isEnd = path.visited.indexOf(name) < path.visited.length - 1 || path.visited.length > MAX_RELATIONS;
    if (!isEnd && open.length < MAX_PATHS) open.push(...followRelations(context, path));
  }
  return new Map([...found].map(([name, of]) => [name, { kind: 'reachable', of }]));
}

function findSharedItem(
  context: PermissionRestrictionContext,
  { collection: name, item }: SharedItem,
): ReachableRows | undefined {
  const collection = context.schema.collections.get(name);
  const rule = collection && readableRowsOf(context, collection);
  const key = collection?.hasKey ? collection.key : null;
  const value = key ? parsePrimaryKeyValue(key, item) : undefined;
  if (!rule || !key || value === undefined) return undefined;
  const isItem = { kind: 'test', use: { field: key }, operator: '_eq', values: [String(value)] } as const;
  return { collection, where: { kind: 'and', of: [isItem, rule] } };
}

/** The paths that are one relation longer. */
function followRelations(context: PermissionRestrictionContext, path: Path): readonly Path[] {
  const { collection } = path.rows;
  return [...collection.fields.values()].flatMap((field) => {
    if (!field.relation || leadsBack(path, field)) return [];
    const access = context.rules.fieldAccess(context, collection, 'read', field.name);
    if (access === false) return [];
    const use: FieldReference = access === true ? { field } : { field, when: access };
    const by = field.relation.kind === 'any' ? collection.fields.get(field.relation.collectionField) : undefined;
    return targetsOf(field).flatMap((name) => {
      const to = context.schema.collections.get(name);
      const where = to && readableRowsOf(context, to);
      if (!where) return [];
      const rows = { collection: to, where, from: { rows: path.rows, use, ...(by ? { by } : {}) } };
      return [{ rows, by: field, visited: [...path.visited, name] }];
    });
  });
}

/** Whether the field of a child row refers to the row that the path came from, which it has already. */
const leadsBack = ({ by }: Path, field: Field): boolean =>
  by?.relation?.kind === 'many' && by.relation.relation.field === field.name;

const targetsOf = ({ relation }: Field): readonly string[] =>
  relation?.kind === 'any' ? relation.allowedCollections : relation ? [relation.to] : [];

/** The row rule of the role; undefined where it may read no row, or where rows cannot be named by a key. */
function readableRowsOf(context: PermissionRestrictionContext, collection: Collection): ConditionTree | undefined {
  if (!collection.table || keyColumns(collection).length === 0) return undefined;
  if (context.set.of(collection.name, 'read').length === 0) return undefined;
  try {
    return context.rules.rowRule(context, collection, 'read');
  } catch (error) {
    // A malformed rule matches no row.
    if (error instanceof Failure && error.code === 'FORBIDDEN') return undefined;
    throw error;
  }
}
