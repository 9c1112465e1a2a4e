import { fail } from '#kernel';
import type { RawQuery } from '../query/contract.ts';
import type { Payload } from './contract.ts';

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const invalidBody = (reason: string, path: readonly (string | number)[] = []) =>
  fail('INVALID_PAYLOAD', reason, { path });

/** `POST`: one object or a list of them. */
export function parseCreateBody(body: unknown): Payload | readonly Payload[] {
  if (isObject(body)) return body;
  if (Array.isArray(body)) return parsePayloads(body);
  throw invalidBody('the body must be an object or a list of objects');
}

export function parsePayloadBody(body: unknown): Payload {
  if (isObject(body)) return body;
  throw invalidBody('the body must be an object');
}

function parsePayloads(list: readonly unknown[]): readonly Payload[] {
  const invalidAt = list.findIndex((one) => !isObject(one));
  if (invalidAt >= 0) throw invalidBody(`element ${invalidAt} is not an object`, [invalidAt]);
  return list as readonly Payload[];
}

export type UpdateBody =
  | { readonly rows: readonly Payload[] }
  | { readonly keys: readonly unknown[]; readonly data: Payload }
  | { readonly query: RawQuery; readonly data: Payload };

/** `PATCH` on a list: exactly one of `keys` and `query` with `data`, or a list of objects with their keys. */
export function parseUpdateBody(body: unknown): UpdateBody {
  if (Array.isArray(body)) return { rows: parsePayloads(body) };
  if (!isObject(body)) throw invalidBody('the body must be { keys, data }, { query, data } or a list of objects');
  if (!isObject(body.data)) throw invalidBody('"data" must be an object', ['data']);
  return { ...parseRowSelection(body), data: body.data };
}

export type RowSelectionBody = { readonly keys: readonly unknown[] } | { readonly query: RawQuery };

/** `DELETE` on a list: a list of keys, `{ keys }` or `{ query }`. */
export const parseDeleteBody = (body: unknown): RowSelectionBody => {
  if (Array.isArray(body)) return { keys: parseKeyList(body, []) };
  if (isObject(body)) return parseRowSelection(body);
  throw invalidBody('the body must be a list of keys, { keys } or { query }');
};

function parseRowSelection(body: Record<string, unknown>): RowSelectionBody {
  if ((body.keys === undefined) === (body.query === undefined))
    throw invalidBody('exactly one of "keys" and "query" is needed');
  if (body.keys !== undefined) return { keys: parseKeyList(body.keys, ['keys']) };
  if (!isObject(body.query)) throw invalidBody('"query" must be an object', ['query']);
  return { query: body.query };
}

/** `SEARCH`: `{ query }`, `{ keys }`, both, or neither. */
export function parseSearchBody(body: unknown): { readonly query?: RawQuery; readonly keys?: readonly unknown[] } {
  if (!isObject(body)) throw invalidBody('the body must be { query } or { keys }');
  if (body.query !== undefined && !isObject(body.query)) throw invalidBody('"query" must be an object', ['query']);
  return {
    ...(body.query === undefined ? {} : { query: body.query }),
    ...(body.keys === undefined ? {} : { keys: parseKeyList(body.keys, ['keys']) }),
  };
}

function parseKeyList(keys: unknown, path: readonly string[]): readonly unknown[] {
  if (!Array.isArray(keys)) throw invalidBody('"keys" must be a list', path);
  // An object names the columns of a composite key.
  const invalidAt = keys.findIndex((key) => typeof key !== 'string' && typeof key !== 'number' && !isObject(key));
  if (invalidAt >= 0) throw invalidBody(`key ${invalidAt} is neither a text nor a number`, [...path, invalidAt]);
  return keys;
}
