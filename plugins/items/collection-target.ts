import { type Caller, fail } from '#kernel';
import { joinKey, keyValue } from '../query/library.ts';
import type { Collection, Field, Overview, Schema } from '../schema/contract.ts';
import { absentCollection, isPlaceOfRow } from '../schema/library.ts';
import type { Key } from './contract.ts';
import { isObject } from './request-bodies.ts';
import { RowLocation } from './row-location.ts';

export interface CollectionTarget {
  readonly schemaSnapshot: Overview;
  readonly collection: Collection;
}

/**
 * A collection that can be read. One that is not known may have been made a moment ago, so the database is asked.
 * @throws FORBIDDEN where there is none, to an admin as `caller` ROUTE_NOT_FOUND with the reason.
 */
export async function findCollection(schema: Schema, name: string, caller?: Caller): Promise<CollectionTarget> {
  let schemaSnapshot = await schema.overview();
  if (!schemaSnapshot.collections.has(name)) schemaSnapshot = await schema.refresh();
  const collection = schemaSnapshot.collections.get(name);
  if (!collection?.table) throw await absentCollection(schema, caller, name, `There is no collection "${name}".`);
  return { schemaSnapshot, collection };
}

/** One that can be written as well. */
export async function findWritableCollection(
  schema: Schema,
  name: string,
  caller?: Caller,
): Promise<CollectionTarget & { key: Field }> {
  const target = await findCollection(schema, name, caller);
  if (target.collection.kind !== 'table') throw fail('FORBIDDEN', `${name} is a view: it cannot be written`);
  return { ...target, key: keyField(target.collection) };
}

export function keyField({ name, key }: Collection): Field {
  if (!key) throw fail('FORBIDDEN', `${name} has no key`);
  return key;
}

/**
 * A key as its column's type has it, of several columns as text or as an object of exactly these; one of the wrong type names no row,
 * which looks like a hidden one: FORBIDDEN.
 */
export function castKey(field: Field, raw: unknown): Key {
  if (raw instanceof RowLocation) return raw.text;
  if (isPlaceOfRow(field)) throw fail('FORBIDDEN', `rows of ${field.collection} have no key: change them by a query`);
  if (isObject(raw) && !field.parts)
    throw fail('INVALID_PAYLOAD', `a key of ${field.collection} is a text or a number`, { path: [] });
  const key = keyValue(field, isObject(raw) ? joinKeyColumns(field, raw) : raw);
  if (key === undefined)
    throw fail('FORBIDDEN', `${JSON.stringify(raw)?.slice(0, 60)} is not a key of ${field.collection}`);
  return key;
}

function joinKeyColumns({ parts = [] }: Field, raw: Record<string, unknown>): string | undefined {
  const values = parts.map(({ name }) => raw[name]);
  const fits = values.every((value) => value !== undefined && value !== null && typeof value !== 'object');
  return fits && Object.keys(raw).length === parts.length ? joinKey(values.map(String)) : undefined;
}

/** The type a list of keys is cast to: an int8 list is understood by every integer index, whatever its values. */
export const keyType = (field: Field): string =>
  field.type === 'integer' || field.type === 'bigInteger' ? 'int8' : (field.column?.sqlType ?? 'text');
