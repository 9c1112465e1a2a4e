import { fail } from '#kernel';
import type { RawQuery } from '../query/contract.ts';
import type { Payload } from './contract.ts';

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const invalid = (reason: string, path: readonly (string | number)[] = []) => fail('INVALID_PAYLOAD', reason, { path });

/** `POST`: one object or a list of them. */
export function createBody(body: unknown): Payload | readonly Payload[] {
  if (isObject(body)) return body;
  if (Array.isArray(body)) return payloads(body);
  throw invalid('the body must be an object or a list of objects');
}

export function payloadBody(body: unknown): Payload {
  if (isObject(body)) return body;
  throw invalid('the body must be an object');
}

function payloads(list: readonly unknown[]): readonly Payload[] {
  const wrong = list.findIndex((one) => !isObject(one));
  if (wrong >= 0) throw invalid(`element ${wrong} is not an object`, [wrong]);
  return list as readonly Payload[];
}

export type UpdateBody =
  | { readonly rows: readonly Payload[] }
  | { readonly keys: readonly unknown[]; readonly data: Payload }
  | { readonly query: RawQuery; readonly data: Payload };

/** `PATCH` on a list: exactly one of `keys` and `query` with `data`, or a list of objects with their keys. */
export function updateBody(body: unknown): UpdateBody {
  if (Array.isArray(body)) return { rows: payloads(body) };
  if (!isObject(body)) throw invalid('the body must be { keys, data }, { query, data } or a list of objects');
  if (!isObject(body.data)) throw invalid('"data" must be an object', ['data']);
  return { ...selection(body), data: body.data };
}

export type SelectionBody = { readonly keys: readonly unknown[] } | { readonly query: RawQuery };

/** `DELETE` on a list: a list of keys, `{ keys }` or `{ query }`. */
export const deleteBody = (body: unknown): SelectionBody => {
  if (Array.isArray(body)) return { keys: keyList(body, []) };
  if (isObject(body)) return selection(body);
  throw invalid('the body must be a list of keys, { keys } or { query }');
};

function selection(body: Record<string, unknown>): SelectionBody {
  if ((body.keys === undefined) === (body.query === undefined))
    throw invalid('exactly one of "keys" and "query" is needed');
  if (body.keys !== undefined) return { keys: keyList(body.keys, ['keys']) };
  if (!isObject(body.query)) throw invalid('"query" must be an object', ['query']);
  return { query: body.query };
}

/** `SEARCH`: `{ query }`, `{ keys }`, both, or neither. */
export function searchBody(body: unknown): { readonly query?: RawQuery; readonly keys?: readonly unknown[] } {
  if (!isObject(body)) throw invalid('the body must be { query } or { keys }');
  if (body.query !== undefined && !isObject(body.query)) throw invalid('"query" must be an object', ['query']);
  return {
    ...(body.query === undefined ? {} : { query: body.query }),
    ...(body.keys === undefined ? {} : { keys: keyList(body.keys, ['keys']) }),
  };
}

function keyList(keys: unknown, path: readonly string[]): readonly unknown[] {
  if (!Array.isArray(keys)) throw invalid('"keys" must be a list', path);
  // An object names the columns of a key of several.
  const wrong = keys.findIndex((key) => typeof key !== 'string' && typeof key !== 'number' && !isObject(key));
  if (wrong >= 0) throw invalid(`key ${wrong} is neither a text nor a number`, [...path, wrong]);
  return keys;
}
