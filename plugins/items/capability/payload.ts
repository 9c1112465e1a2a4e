import type { Key, Payload } from '../contract.ts';
import { invalidRequest, isObject } from './input-checks.ts';

/** Bounds of the payloads of confined code (conventions, "items"). */
export const WRITE_BOUNDS = { bytes: 128 * 1024, depth: 64, batch: 100, mutations: 500 } as const;

/** Asserts that a payload is a plain object within the bounds. */
export function parsePayload(payload: unknown): Payload {
  if (!isObject(payload)) throw invalidRequest('A payload is an object.');
  assertDepth(payload);
  if (Buffer.byteLength(JSON.stringify(payload)) > WRITE_BOUNDS.bytes)
    throw invalidRequest(`A payload has at most ${WRITE_BOUNDS.bytes} bytes.`);
  return payload;
}

export const parsePayloads = (list: unknown): readonly Payload[] => parseBatch(list).map(parsePayload);

/** Parses a list of keys that also differ as texts, since rows are found by texts. */
export function parseKeys(list: unknown): readonly Key[] {
  const keys = parseBatch(list).map(parseItemKey);
  if (new Set(keys.map(String)).size < keys.length) throw invalidRequest('A key is listed more than once.');
  return keys;
}

export function parseItemKey(key: unknown): Key {
  if (typeof key !== 'string' && typeof key !== 'number') throw invalidRequest('A key is a text or a number.');
  return key;
}

function parseBatch(list: unknown): readonly unknown[] {
  if (!Array.isArray(list) || list.length > WRITE_BOUNDS.batch)
    throw invalidRequest(`At most ${WRITE_BOUNDS.batch} rows are written at once.`);
  return list;
}

/** Checks level by level instead of recursively, since the sender chooses the depth. */
function assertDepth(payload: Payload): void {
  let level: readonly unknown[] = [payload];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > WRITE_BOUNDS.depth)
      throw invalidRequest(`A payload is nested at most ${WRITE_BOUNDS.depth} levels deep.`);
    level = level
      .flatMap((one) => Object.values(one as object))
      .filter((one) => typeof one === 'object' && one !== null);
  }
}
