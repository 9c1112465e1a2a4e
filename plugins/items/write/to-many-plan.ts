import { fail } from '#kernel';
import type { PendingRevisionId } from '../../activity/contract.ts';
import type { Collection, Field, SchemaOverview } from '../../schema/contract.ts';
import type { Key, Payload } from '../contract.ts';
import { parseKeyValue } from '../find-collection-and-key.ts';
import { expandCompositeForeignKeys } from './composite-foreign-keys.ts';
import { keyOfPayload, withoutKeyColumns } from './row-key.ts';
import type { RequestRowPath } from './row-path.ts';
import { isPayload, type ToManyValue } from './to-many-value.ts';
import type { RowUpsert } from './to-one.ts';

/** A parent row and its value for one to-many alias. */
export interface ToManyParentRow {
  readonly value: ToManyValue;
  readonly key: Key;
  readonly parentRevision: PendingRevisionId | null;
  readonly path: RequestRowPath;
  /** The parent was just created, so no row refers to it yet. */
  readonly isNew: boolean;
}

/** A to-many alias, the key of its rows, and the rows that referred to each parent before. */
export interface ToManyAlias {
  readonly field: Field;
  readonly to: Collection;
  readonly key: Field;
  readonly link: Field;
  readonly schemaSnapshot: SchemaOverview;
  readonly linkedBefore: (parent: ToManyParentRow) => readonly Key[];
  /** The stored keys by the texts of the keys in the payload, where the two texts may differ. */
  readonly storedKeys?: ReadonlyMap<string, Key>;
}

/**
 * The writes that the to-many value of one parent row requests. `linkedAfter` are the keys, as texts, of rows that
 * refer to the parent afterwards.
 */
export interface ToManyWritePlan {
  readonly parent: ToManyParentRow;
  readonly linkColumns: Payload;
  readonly create: readonly Payload[];
  readonly upsert: readonly RowUpsert[];
  /** Existing rows to link by their key alone. */
  readonly link: readonly Key[];
  readonly remove: readonly Key[];
  readonly linkedAfter: Set<string>;
}

export function planToManyWrites(alias: ToManyAlias, parent: ToManyParentRow): ToManyWritePlan {
  const linkColumns = expandCompositeForeignKeys(alias.to, { [alias.link.name]: parent.key });
  const row = (value: Payload, ...place: RequestRowPath): RowUpsert => ({
    ...{ value, platformValues: linkColumns, parentRevision: parent.parentRevision },
    path: [...parent.path, alias.field.name, ...place],
  });
  const { value } = parent;
  if (value.kind === 'list')
    return { parent, linkColumns, ...planToManyList(alias, parent, value.entries, linkColumns, row) };
  const { create, update } = value;
  const remove = planRemoval(alias, parent, value.remove);
  return {
    parent,
    linkColumns,
    create,
    upsert: update.map((value, at) => row(value, 'update', at)),
    link: [],
    remove,
    linkedAfter: new Set(),
  };
}

type ListEntry = Payload | string | number;

/** The key in an entry of a list; undefined for a row without one. */
const keyOfEntry = (
  { key, schemaSnapshot }: Pick<ToManyAlias, 'key' | 'schemaSnapshot'>,
  entry: ListEntry,
  linkColumns: Payload,
): unknown =>
  isPayload(entry) ? keyOfPayload(key, key.parts ? { ...linkColumns, ...entry } : entry, schemaSnapshot) : entry;

/** All keys of related rows in the to-many value of a parent row. */
export function keysOfToManyValue(
  alias: Omit<ToManyAlias, 'linkedBefore' | 'storedKeys'>,
  { value, key: parent }: ToManyParentRow,
): readonly Key[] {
  const linkColumns = expandCompositeForeignKeys(alias.to, { [alias.link.name]: parent });
  const raw =
    value.kind === 'list' ? value.entries.map((entry) => keyOfEntry(alias, entry, linkColumns)) : value.remove;
  return raw.flatMap((one) => (one === undefined ? [] : parseKeyValue(alias.key, one)));
}

const storedKey = ({ key, storedKeys }: ToManyAlias, raw: unknown): Key => {
  const entryKey = parseKeyValue(key, raw);
  return storedKeys?.get(String(entryKey)) ?? entryKey;
};

function planToManyList(
  alias: ToManyAlias,
  parent: ToManyParentRow,
  entries: readonly ListEntry[],
  linkColumns: Payload,
  row: (value: Payload, ...place: RequestRowPath) => RowUpsert,
): Pick<ToManyWritePlan, 'create' | 'upsert' | 'link' | 'remove' | 'linkedAfter'> {
  const { key, linkedBefore } = alias;
  const linked = new Set(linkedBefore(parent).map(String));
  const linkedAfter = new Set<string>();
  const upsert: RowUpsert[] = [];
  const link = new Set<Key>();
  for (const [at, entry] of entries.entries()) {
    const namedKey = keyOfEntry(alias, entry, linkColumns);
    const isAlone =
      namedKey !== undefined && (!isPayload(entry) || Object.keys(withoutKeyColumns(key, entry)).length === 0);
    if (isPayload(entry) && !isAlone) {
      upsert.push(row(entry, at));
      continue;
    }
    const entryKey = storedKey(alias, namedKey);
    linkedAfter.add(String(entryKey));
    if (linked.has(String(entryKey))) continue;
    // An object may also create a row under this key.
    if (isPayload(entry)) upsert.push(row(entry, at));
    else link.add(entryKey);
  }
  return { create: [], upsert, link: [...link], remove: linkedBefore(parent), linkedAfter };
}

function planRemoval(alias: ToManyAlias, parent: ToManyParentRow, raw: readonly unknown[]): readonly Key[] {
  const linked = new Set(alias.linkedBefore(parent).map(String));
  const keys = raw.map((one) => storedKey(alias, one));
  if (keys.some((one) => !linked.has(String(one))))
    throw fail('FORBIDDEN', `a row to remove from ${alias.field.name} is not among its rows`);
  return keys;
}

/**
 * The rows that each parent unlinks: those omitted from its list, except rows that another parent of the request links.
 */
export function findUnlinkedRows(
  plans: readonly ToManyWritePlan[],
): readonly { readonly parent: ToManyParentRow; readonly keys: readonly Key[] }[] {
  const owners = new Map<string, ToManyWritePlan>();
  for (const plan of plans) for (const key of plan.linkedAfter) owners.set(key, plan);
  return plans.flatMap((plan) => {
    const keys = plan.remove.filter((key) => !owners.has(String(key)));
    return keys.length > 0 ? [{ parent: plan.parent, keys }] : [];
  });
}
