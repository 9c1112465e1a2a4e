import { type Caller, fail } from '#kernel';
import type { PermissionAction } from '../../access/contract.ts';
import type { RawQuery } from '../../query/contract.ts';
import type { Key } from '../contract.ts';
import type { ItemsEngineDeps } from '../deps.ts';
import { findWritableCollection } from '../find-collection-and-key.ts';
import { PhysicalRowLocation } from '../physical-row-location.ts';
import { tableSql } from './sql.ts';

/** Parameters that select rows, and those that only shape an answer and are ignored. */
const ALLOWED_QUERY_NAMES: ReadonlySet<string> = new Set([
  ...['filter', 'search', 'sort', 'limit', 'offset', 'page'],
  ...['fields', 'deep', 'alias', 'meta', 'backlink'],
]);

/**
 * Finds the rows that a write by query selects: those of its filter, search and limit at this moment. The query is
 * checked like that of a read. A table without a key is locked against other writers, so that the locations of its rows
 * stay valid. `any` finds the row of a singleton that the caller may not be able to read.
 */
export async function findKeysByQuery(
  deps: ItemsEngineDeps,
  caller: Caller,
  name: string,
  raw: RawQuery,
  { action, visibility = 'readable' }: { readonly action: PermissionAction; readonly visibility?: 'readable' | 'any' },
): Promise<Key[]> {
  const { collection, schemaSnapshot, key } = await findWritableCollection(deps.schema, name);
  // A misspelt filter would be ignored, and every row would be selected.
  const unknown = Object.keys(raw).find((member) => !ALLOWED_QUERY_NAMES.has(member));
  if (unknown !== undefined)
    throw fail('INVALID_QUERY', `"${unknown.slice(0, 40)}" does not choose rows`, { path: ['query', unknown] });
  const set = await deps.access.permissions(caller);
  // A caller with read permission only must not lock out writers; its write is rejected later.
  const mayWrite = set.admin || set.of(collection.name, action).length > 0;
  if (!collection.hasKey && mayWrite)
    await deps.db.query(`lock table ${tableSql(collection)} in share row exclusive mode`);
  const [field = key] = key.parts ? collection.fields.values() : [key];
  const readQuery = { ...raw, fields: [field.name], meta: undefined, deep: undefined, alias: undefined };
  const visible = deps.access.fieldVisibility(set);
  const parsed = deps.query.parse(collection, readQuery, {
    schema: schemaSnapshot,
    unlimited: true,
    isVisible: visible,
  });
  const ordered = parsed.order.some((one) => !one.implied);
  const hasNoCondition =
    parsed.where.kind === 'and' && parsed.where.of.length === 0 && parsed.search === null && !ordered;
  const cannotRead = set.of(collection.name, 'read').length === 0 && !set.admin;
  if (cannotRead && !hasNoCondition) throw fail('FORBIDDEN', `no read permission on ${name} to filter by`);
  // Without a condition the result reveals nothing: every row is selected, and each is checked when it is written.
  const readCaller = visibility === 'any' || cannotRead ? deps.systemCaller() : caller;
  const read = await deps.access.restrict(parsed, readCaller, schemaSnapshot);
  // The keys are not answered, so they are read even where the caller may not read them.
  const keys = { ...read, projections: [{ kind: 'column', key: key.name, field: key }] } as const;
  const rows = await deps.query.readRows(keys, caller, schemaSnapshot);
  return rows.map((row) => (collection.hasKey ? row[key.name] : new PhysicalRowLocation(String(row[key.name]))) as Key);
}
