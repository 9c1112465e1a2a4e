import { type Caller, fail } from '#kernel';
import type { Collection, Field, Relation } from '../../schema/contract.ts';
import type { Key, Payload } from '../contract.ts';
import type { Deps } from '../deps.ts';
import { castKey, findWritable, keyField, type Target } from '../target.ts';
import type { Inner } from './inner.ts';
import { below } from './nested-errors.ts';
import { columnValue, existingKeys, greatest, keysWhere } from './statements.ts';

const isPayload = (value: unknown): value is Payload =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const hasKey = (key: Field, value: Payload): boolean => value[key.name] !== undefined && value[key.name] !== null;

/**
 * A many-to-one given as an object (specification, "Relational write shapes"): without key it is created, with a key
 * alone it is linked, with more it is updated; where there is no such row it is created under that key.
 */
export async function writeOne(
  deps: Deps,
  inner: Inner,
  caller: Caller,
  field: Field,
  value: Payload,
): Promise<unknown> {
  if (field.relation?.kind !== 'one') throw fail('INVALID_PAYLOAD', `${field.name} does not take an object`);
  const { collection: to, key } = await findWritable(deps.schema, field.relation.to);
  const made = await writeRow(deps, below(inner, field), caller, to, key, value);
  const column = field.relation.relation.schema?.foreign_key_column;
  return column && column !== key.column?.name ? columnValue(deps.db, to, made, column) : made;
}

async function writeRow(
  deps: Deps,
  inner: Inner,
  caller: Caller,
  to: Collection,
  key: Field,
  value: Payload,
  given?: Payload,
) {
  if (!hasKey(key, value)) return (await inner.create(caller, to.name, [value], given))[0] as Key;
  const { [key.name]: raw, ...rest } = value;
  const own = castKey(key, raw);
  const exists = (await existingKeys(deps.db, to, [own])).has(String(own));
  if (!exists) return (await inner.create(caller, to.name, [value], given))[0] as Key;
  if (Object.keys(rest).length === 0 && !given) return own;
  return (await inner.update(caller, to.name, [own], rest, given))[0] as Key;
}

/**
 * A to-many alias: a list of keys and objects that replaces what was there, or `{ create, update, delete }`. Rows left
 * out are let go as the relation says: their key is set to null, or they are deleted.
 */
export async function writeMany(
  deps: Deps,
  above: Inner,
  caller: Caller,
  target: Target,
  parentKey: Key,
  field: Field,
  value: unknown,
): Promise<void> {
  if (field.relation?.kind !== 'many') return;
  const inner = below(above, field);
  const { relation } = field.relation;
  const { collection: to, key } = await findWritable(deps.schema, field.relation.to);
  const link = to.fields.get(relation.field) as Field;
  const parent = await parentValue(deps, target.collection, relation, parentKey);
  const given = { [link.name]: parent };
  const release = (keys: readonly Key[]) => letGo(inner, caller, to, relation, link, keys);

  if (isPayload(value)) {
    const { create, update, remove } = detailed(field, key, value);
    const places = await lastPlaces(deps, to, relation, link, parent, create);
    for (const [at, one] of create.entries()) await inner.create(caller, to.name, [one], { ...given, ...places[at] });
    for (const one of update) await writeRow(deps, inner, caller, to, key, one, given);
    if (remove.length === 0) return;
    const mine = new Set((await keysWhere(deps.db, to, link, parent)).map(String));
    const keys = remove.map((raw) => castKey(key, raw));
    if (keys.some((one) => !mine.has(String(one))))
      throw fail('FORBIDDEN', `a row to remove from ${field.name} is not among its rows`);
    return release(keys);
  }

  if (value !== null && !Array.isArray(value)) throw shape(field, 'a list or { create, update, delete }');
  const list: readonly unknown[] = value ?? [];
  const before = await keysWhere(deps.db, to, link, parent);
  const linked = new Set(before.map(String));
  const kept = new Set<string>();
  const taken: Key[] = [];
  for (const entry of list) {
    if (isPayload(entry)) kept.add(String(await writeRow(deps, inner, caller, to, key, entry, given)));
    else if (typeof entry === 'string' || typeof entry === 'number') {
      const own = castKey(key, entry);
      kept.add(String(own));
      if (!linked.has(String(own))) taken.push(own);
    } else throw shape(field, 'a list of keys and objects');
  }
  if (taken.length > 0) await inner.update(caller, to.name, taken, {}, given);
  await release(before.filter((one) => !kept.has(String(one))));
}

/** New rows come after all others where the relation has an order, unless they say where. */
async function lastPlaces(
  deps: Deps,
  to: Collection,
  relation: Relation,
  link: Field,
  parent: unknown,
  rows: readonly Payload[],
): Promise<readonly Payload[]> {
  const order = to.fields.get(relation.meta?.sort_field ?? '');
  if (order?.type !== 'integer' || rows.every((row) => row[order.name] !== undefined)) return [];
  let last = await greatest(deps.db, to, order, link, parent);
  return rows.map((row) => (row[order.name] === undefined ? { [order.name]: ++last } : {}));
}

function detailed(field: Field, key: Field, value: Payload) {
  const { create = [], update = [], delete: remove = [], ...rest } = value;
  const other = Object.keys(rest)[0];
  if (other !== undefined) throw shape(field, `{ create, update, delete }, without "${other.slice(0, 40)}"`);
  for (const list of [create, update, remove])
    if (!Array.isArray(list)) throw shape(field, 'lists under create, update and delete');
  const objects = [...(create as unknown[]), ...(update as unknown[])];
  if (!objects.every(isPayload)) throw shape(field, 'objects under create and update');
  if (!(update as Payload[]).every((one) => hasKey(key, one)))
    throw shape(field, `objects with ${key.name} under update`);
  return { create: create as Payload[], update: update as Payload[], remove: remove as unknown[] };
}

const shape = (field: Field, expected: string) =>
  fail('INVALID_PAYLOAD', `${field.name} takes ${expected}`, { field: field.name, path: [field.name] });

async function letGo(
  inner: Inner,
  caller: Caller,
  to: Collection,
  relation: Relation,
  link: Field,
  keys: readonly Key[],
) {
  if (keys.length === 0) return;
  if (relation.meta?.one_deselect_action === 'delete') await inner.remove(caller, to.name, keys);
  else await inner.update(caller, to.name, keys, {}, { [link.name]: null });
}

/** What the children's key holds: nearly always the parent's own key. */
async function parentValue(deps: Deps, parent: Collection, relation: Relation, parentKey: Key): Promise<unknown> {
  const column = relation.schema?.foreign_key_column;
  return column && column !== keyField(parent).column?.name
    ? columnValue(deps.db, parent, parentKey, column)
    : parentKey;
}
