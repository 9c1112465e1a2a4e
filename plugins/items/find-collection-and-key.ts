import { type Caller, fail } from '#kernel';
import { joinCompositeKey, parsePrimaryKeyValue } from '../query/library.ts';
import type { Collection, Field, SchemaOverview, SchemaService } from '../schema/contract.ts';
import { createCollectionNotFoundFailure, isRowLocationField } from '../schema/library.ts';
import type { Key } from './contract.ts';
import { PhysicalRowLocation } from './physical-row-location.ts';
import { isObject } from './request-bodies.ts';

export interface CollectionInSnapshot {
  readonly schemaSnapshot: SchemaOverview;
  readonly collection: Collection;
}

/**
 * Finds a readable collection. An unknown name may be that of a table created a moment ago, so the schema is refreshed.
 * @throws FORBIDDEN where there is none; ROUTE_NOT_FOUND with the reason where `caller` is an admin.
 */
export async function requireServedCollection(
  schema: SchemaService,
  name: string,
  caller?: Caller,
): Promise<CollectionInSnapshot> {
  let schemaSnapshot = await schema.snapshot();
  if (!schemaSnapshot.collections.has(name)) schemaSnapshot = await schema.refresh();
  const collection = schemaSnapshot.collections.get(name);
  if (!collection?.table)
    throw await createCollectionNotFoundFailure(schema, caller, name, `There is no collection "${name}".`);
  return { schemaSnapshot, collection };
}

/** Finds a collection that can be written. @throws FORBIDDEN for a view. */
export async function findWritableCollection(
  schema: SchemaService,
  name: string,
  caller?: Caller,
): Promise<CollectionInSnapshot & { key: Field }> {
  const target = await requireServedCollection(schema, name, caller);
  if (target.collection.kind !== 'table') throw fail('FORBIDDEN', `${name} is a view: it cannot be written`);
  return { ...target, key: requireKeyField(target.collection) };
}

export function requireKeyField({ name, key }: Collection): Field {
  if (!key) throw fail('FORBIDDEN', `${name} has no key`);
  return key;
}

/**
 * Casts a key to the type of its column. A composite key is a text or an object of exactly its columns.
 * @throws FORBIDDEN for a key of the wrong type, which is answered like a hidden row.
 */
export function parseKeyValue(field: Field, raw: unknown): Key {
  if (raw instanceof PhysicalRowLocation) return raw.text;
  if (isRowLocationField(field))
    throw fail('FORBIDDEN', `rows of ${field.collection} have no key: change them by a query`);
  if (isObject(raw) && !field.parts)
    throw fail('INVALID_PAYLOAD', `a key of ${field.collection} is a text or a number`, { path: [] });
  const key = parsePrimaryKeyValue(field, isObject(raw) ? joinKeyColumns(field, raw) : raw);
  if (key === undefined)
    throw fail('FORBIDDEN', `${JSON.stringify(raw)?.slice(0, 60)} is not a key of ${field.collection}`);
  return key;
}

function joinKeyColumns({ parts = [] }: Field, raw: Record<string, unknown>): string | undefined {
  const values = parts.map(({ name }) => raw[name]);
  const fits = values.every((value) => value !== undefined && value !== null && typeof value !== 'object');
  return fits && Object.keys(raw).length === parts.length ? joinCompositeKey(values.map(String)) : undefined;
}

/** The SQL type to which a list of keys is cast. Every integer index accepts an int8 list, whatever its values. */
export const keySqlType = (field: Field): string =>
  field.type === 'integer' || field.type === 'bigInteger' ? 'int8' : (field.column?.sqlType ?? 'text');
