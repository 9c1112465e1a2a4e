import type { PermissionTestModel, PermissionTestPayload, PermissionTestRow } from './reference-types.ts';

// A key in the in-memory reference is the value of the key column, or the values of several columns joined by commas.
// Composite keys of the model have only numbers, so commas need no escape.

type Of = PermissionTestModel[string];

export const isPayloadObject = (value: unknown): value is PermissionTestPayload =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const hasCompositeKey = ({ key }: Of): boolean => key.length > 1;

/** The name of the key column. Throws for a composite key. */
export const requireSingleKeyColumn = ({ key }: Of): string => {
  if (key.length !== 1) throw new Error(`the key is ${key}`);
  return key[0] as string;
};

export const renderRowKey = ({ key }: Of, row: PermissionTestRow): unknown =>
  key.length === 1 ? row[key[0] as string] : key.map((name) => row[name]).join();

/** The key columns with their values, parsed from a key. */
export const parseKeyColumns = ({ key }: Of, value: unknown): PermissionTestPayload =>
  key.length === 1
    ? { [key[0] as string]: value }
    : Object.fromEntries(
        String(value)
          .split(',')
          .map((part, at) => [key[at], Number(part)]),
      );

/** The key that a payload names; undefined if a key column is missing, null, or an object without a key. */
export function keyInPayload(model: PermissionTestModel, collection: string, payload: PermissionTestPayload): unknown {
  const { key, manyToOne } = model[collection] as Of;
  if (key.length === 1) return payload[key[0] as string];
  const values = key.map((name) => {
    const value = payload[name];
    return isPayloadObject(value) ? value[requireSingleKeyColumn(model[manyToOne[name] as string] as Of)] : value;
  });
  return values.every((value) => value !== undefined && value !== null) ? values.join() : undefined;
}

/** A payload without its key. An object in place of a key column stays when it has more than the key. */
export const withoutKey = ({ key }: Of, payload: PermissionTestPayload): PermissionTestPayload =>
  Object.fromEntries(
    Object.entries(payload).filter(
      ([name, value]) =>
        !key.includes(name) || (key.length > 1 && isPayloadObject(value) && Object.keys(value).length > 1),
    ),
  );

export const omitPayloadFields = (payload: PermissionTestPayload, fields: readonly string[]): PermissionTestPayload =>
  Object.fromEntries(Object.entries(payload).filter(([name]) => !fields.includes(name)));
