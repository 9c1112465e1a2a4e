import { fail } from '#kernel';
import type { Field } from '../../schema/contract.ts';
import type { Payload } from '../contract.ts';

/** The value of a to-many alias in a payload (specification, "Relational write shapes"). */
export type ToManyValue =
  /** Replaces the linked rows: objects or keys. */
  | { readonly kind: 'list'; readonly entries: readonly (Payload | string | number)[] }
  /** Changes the named rows only; other linked rows stay as they are. */
  | {
      readonly kind: 'changes';
      readonly create: readonly Payload[];
      readonly update: readonly Payload[];
      readonly remove: readonly unknown[];
    };

export const isPayload = (value: unknown): value is Payload =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `key`: the names of the columns that identify a row behind the alias. */
export function parseToManyValue(field: Field, key: readonly string[], value: unknown): ToManyValue {
  if (isPayload(value)) return parseChanges(field, key, value);
  if (value !== null && value !== undefined && !Array.isArray(value))
    throw invalidShape(field, 'a list or { create, update, delete }');
  const entries: readonly unknown[] = value ?? [];
  const isEntry = (one: unknown): one is Payload | string | number =>
    isPayload(one) || typeof one === 'string' || typeof one === 'number';
  if (!entries.every(isEntry)) throw invalidShape(field, 'a list of keys and objects');
  return { kind: 'list', entries };
}

function parseChanges(field: Field, key: readonly string[], value: Payload): ToManyValue {
  const { create = [], update = [], delete: remove = [], ...rest } = value;
  const other = Object.keys(rest)[0];
  if (other !== undefined) throw invalidShape(field, `{ create, update, delete }, without "${other.slice(0, 40)}"`);
  for (const list of [create, update, remove])
    if (!Array.isArray(list)) throw invalidShape(field, 'lists under create, update and delete');
  const objects = [...(create as unknown[]), ...(update as unknown[])];
  if (!objects.every(isPayload)) throw invalidShape(field, 'objects under create and update');
  if (!(update as Payload[]).every((one) => key.every((name) => one[name] !== undefined && one[name] !== null)))
    throw invalidShape(field, `objects with ${key.join(' and ')} under update`);
  return {
    kind: 'changes',
    create: create as Payload[],
    update: update as Payload[],
    remove: remove as unknown[],
  };
}

const invalidShape = (field: Field, expected: string) =>
  fail('INVALID_PAYLOAD', `${field.name} takes ${expected}`, { field: field.name, path: [field.name] });
