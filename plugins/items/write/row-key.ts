import { joinCompositeKey, parsePrimaryKeyValue, splitCompositeKey } from '../../query/library.ts';
import type { Field, SchemaOverview } from '../../schema/contract.ts';
import type { Key, Payload } from '../contract.ts';
import { isPayload } from './to-many-value.ts';

// Keys in payloads: of one column, or of several that have to be present together.

/** The names of the columns of a key. */
export const keyColumnNames = (key: Field): readonly string[] => (key.parts ?? [key]).map(({ name }) => name);

/** Whether an update of these columns changes the key. */
export const hasKeyColumns = (key: Field, columns: Payload): boolean =>
  keyColumnNames(key).some((name) => Object.hasOwn(columns, name));

/** The key in a payload; undefined where a column of it is missing, null, or a row to create. */
export function keyOfPayload(key: Field, payload: Payload, schemaSnapshot: SchemaOverview): unknown {
  if (!key.parts) return payload[key.name] ?? undefined;
  const values = key.parts.map((part) => keyColumnValue(part, payload[part.name], schemaSnapshot));
  return values.every((value) => value !== undefined) ? joinCompositeKey(values.map(String)) : undefined;
}

/** A column of the key may be a many-to-one with an object, which names its row by its own key. */
function keyColumnValue({ relation }: Field, value: unknown, schemaSnapshot: SchemaOverview): unknown {
  if (!isPayload(value)) return value ?? undefined;
  const to = relation?.kind === 'one' ? schemaSnapshot.collections.get(relation.to) : undefined;
  return to?.primary ? (value[to.primary] ?? undefined) : undefined;
}

/**
 * The columns of a payload that are not its key. An object in place of a column of a composite key stays where it has
 * more than its key, since it writes a row.
 */
export const withoutKeyColumns = (key: Field, payload: Payload): Payload => {
  const names = keyColumnNames(key);
  const writesRow = (value: unknown) => isPayload(value) && Object.keys(value).length > 1;
  const isKept = (name: string, value: unknown) =>
    !names.includes(name) || (key.parts !== undefined && writesRow(value));
  return Object.fromEntries(Object.entries(payload).filter(([name, value]) => isKept(name, value)));
};

/**
 * The keys of rows after an update that sets columns of a composite key; a value that fits no key leaves them
 * unchanged.
 */
export function keysAfterUpdate(before: readonly Key[], key: Field, columns: Payload): readonly Key[] {
  if (!key.parts || !hasKeyColumns(key, columns)) return before;
  const names = keyColumnNames(key);
  return before.map((one) => {
    const parts = splitCompositeKey(String(one)).map((text, at) => columns[names[at] as string] ?? text);
    return (parsePrimaryKeyValue(key, joinCompositeKey(parts.map(String))) as Key | undefined) ?? one;
  });
}

/**
 * The keys after an update by one payload, in the order of the keys before. The unchanged columns of a composite key
 * identify the rows.
 */
export function sortUpdatedKeysLikeBefore(
  before: readonly Key[],
  key: Field,
  columns: Payload,
  after: readonly Key[],
): readonly Key[] {
  if (!key.parts) return after;
  const names = keyColumnNames(key);
  const left = (one: Key) =>
    joinCompositeKey(
      splitCompositeKey(String(one)).filter((_text, at) => !Object.hasOwn(columns, names[at] as string)),
    );
  const found = new Map(after.map((one) => [left(one), one]));
  const keys = before.flatMap((one) => found.get(left(one)) ?? []);
  return keys.length === after.length ? keys : after;
}

/** Removes an unchanged key, which a client sends back with the row and which generated columns would reject. */
export function withoutUnchangedKey(key: Field, keys: readonly Key[], payload: Payload): Payload {
  if (keys.length !== 1 || !hasKeyColumns(key, payload)) return payload;
  const texts = key.parts ? splitCompositeKey(String(keys[0])) : [String(keys[0])];
  const isSame = (name: string, value: unknown): boolean => {
    const at = keyColumnNames(key).indexOf(name);
    return at >= 0 && typeof value !== 'object' && keyTextOf((key.parts ?? [key])[at] as Field, value) === texts[at];
  };
  return Object.fromEntries(Object.entries(payload).filter(([name, value]) => !isSame(name, value)));
}

const keyTextOf = (field: Field, value: unknown): string => {
  const key = typeof value === 'boolean' ? String(value) : value;
  return String(parsePrimaryKeyValue(field, key) ?? key);
};
