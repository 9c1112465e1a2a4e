import type { Model, Payload, Row } from './reference-types.ts';

// A key in the in-memory reference is the value of the key column, or the values of several columns joined by commas.
// Composite keys of the model have only numbers, so commas need no escape.

type Of = Model[string];

export const isObject = (value: unknown): value is Payload =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const hasCompositeKey = ({ key }: Of): boolean => key.length > 1;

/** The name of the key column. Throws for a composite key. */
export const keyColumn = ({ key }: Of): string => {
  if (key.length !== 1) throw new Error(`the key is ${key}`);
  return key[0] as string;
};

export const keyText = ({ key }: Of, row: Row): unknown =>
  key.length === 1 ? row[key[0] as string] : key.map((name) => row[name]).join();

/** The key columns with their values, parsed from a key. */
export const parseKeyColumns = ({ key }: Of, value: unknown): Payload =>
  key.length === 1
    ? { [key[0] as string]: value }
    : Object.fromEntries(
        String(value)
          .split(',')
          .map((part, at) => [key[at], Number(part)]),
      );

/** The key that a payload names; undefined if a key column is missing, null, or an object without a key. */
export function keyInPayload(model: Model, collection: string, payload: Payload): unknown {
  const { key, manyToOne } = model[collection] as Of;
  if (key.length === 1) return payload[key[0] as string];
  const values = key.map((name) => {
    const value = payload[name];
    return isObject(value) ? value[keyColumn(model[manyToOne[name] as string] as Of)] : value;
  });
  return values.every((value) => value !== undefined && value !== null) ? values.join() : undefined;
}

/** A payload without its key. An object in place of a key column stays when it has more than the key. */
export const withoutKey = ({ key }: Of, payload: Payload): Payload =>
  Object.fromEntries(
    Object.entries(payload).filter(
      ([name, value]) => !key.includes(name) || (key.length > 1 && isObject(value) && Object.keys(value).length > 1),
    ),
  );

export const omitPayloadFields = (payload: Payload, fields: readonly string[]): Payload =>
  Object.fromEntries(Object.entries(payload).filter(([name]) => !fields.includes(name)));
