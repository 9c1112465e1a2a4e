import { type Caller, fail } from '#kernel';
import { isUuid } from '../query/library.ts';
import type { Collection, Field, Overview, Schema } from '../schema/contract.ts';
import { absentCollection } from '../schema/library.ts';
import type { Key } from './contract.ts';

export interface Target {
  readonly overview: Overview;
  readonly collection: Collection;
}

/**
 * A collection that can be read. One that is not known may have been made a moment ago, so the database is asked.
 * @throws FORBIDDEN where there is none, to an admin as `caller` ROUTE_NOT_FOUND with the reason.
 */
export async function findCollection(schema: Schema, name: string, caller?: Caller): Promise<Target> {
  let overview = await schema.overview();
  if (!overview.collections.has(name)) overview = await schema.refresh();
  const collection = overview.collections.get(name);
  if (!collection?.table) throw await absentCollection(schema, caller, name, `There is no collection "${name}".`);
  if (!collection.primary && collection.kind !== 'view')
    throw await absentCollection(schema, caller, name, `"${name}" has no single key: it is not served.`);
  return { overview, collection };
}

/** One that can be written as well. */
export async function findWritable(schema: Schema, name: string, caller?: Caller): Promise<Target & { key: Field }> {
  const target = await findCollection(schema, name, caller);
  if (target.collection.kind !== 'table') throw fail('FORBIDDEN', `${name} is a view: it cannot be written`);
  return { ...target, key: keyField(target.collection) };
}

export function keyField(collection: Collection): Field {
  const field = collection.primary ? collection.fields.get(collection.primary) : undefined;
  if (!field) throw fail('FORBIDDEN', `${collection.name} has no key`);
  return field;
}

const SHAPES: Partial<Readonly<Record<Field['type'], (text: string) => boolean>>> = {
  uuid: isUuid,
  decimal: (text) => /^-?\d{1,100}(\.\d{1,100})?$/.test(text),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text),
};
const INT8 = 9_223_372_036_854_775_807n;
const INT4 = 2_147_483_647n;
const isWithin = (value: bigint, largest: bigint): boolean => value <= largest && value >= -largest - 1n;

/** A key as its column's type has it; one of the wrong type names no row, which looks like a hidden one: FORBIDDEN. */
export function castKey(field: Field, raw: unknown): Key {
  // A number that JSON could not hold has become another one, and must not name that one's row.
  const isExact = typeof raw === 'number' && (Number.isSafeInteger(raw) || !Number.isInteger(raw));
  const text = typeof raw === 'string' || isExact ? String(raw) : '';
  const fits =
    field.type === 'integer' || field.type === 'bigInteger'
      ? /^-?\d{1,19}$/.test(text) && isWithin(BigInt(text), field.type === 'integer' ? INT4 : INT8)
      : (SHAPES[field.type]?.(text) ?? (text !== '' && !text.includes('\0')));
  if (!fits) throw fail('FORBIDDEN', `${JSON.stringify(raw)?.slice(0, 60)} is not a key of ${field.collection}`);
  // Blanks at the end of a `char(n)` are no part of the value.
  if (field.column?.dataType === 'character') return text.trimEnd();
  return field.type === 'integer' ? Number(text) : field.type === 'uuid' ? text.toLowerCase() : text;
}

/** The type a list of keys is cast to: an int8 list is understood by every integer index, whatever its values. */
export const keyType = (field: Field): string =>
  field.type === 'integer' || field.type === 'bigInteger' ? 'int8' : (field.column?.sqlType ?? 'text');
