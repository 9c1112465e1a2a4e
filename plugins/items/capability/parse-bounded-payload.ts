import type { Key, Payload } from '../contract.ts';
import { createInvalidRequestRefusal, isObject } from './input-checks.ts';

/** Bounds of the payloads of confined code (conventions, "items"). */
export const CONFINED_WRITE_BOUNDS = { bytes: 128 * 1024, depth: 64, batch: 100, mutations: 500 } as const;

/** Asserts that a payload is a plain object within the bounds. */
export function requireBoundedPayload(payload: unknown): Payload {
  if (!isObject(payload)) throw createInvalidRequestRefusal('A payload is an object.');
  assertDepth(payload);
  if (Buffer.byteLength(JSON.stringify(payload)) > CONFINED_WRITE_BOUNDS.bytes)
    throw createInvalidRequestRefusal(`A payload has at most ${CONFINED_WRITE_BOUNDS.bytes} bytes.`);
  return payload;
}

export const requireBoundedPayloads = (list: unknown): readonly Payload[] =>
  parseBatch(list).map(requireBoundedPayload);

/** Parses a list of keys that also differ as texts, since rows are found by texts. */
export function requireBoundedDistinctKeys(list: unknown): readonly Key[] {
  const keys = parseBatch(list).map(requireTextOrNumberKey);
  if (new Set(keys.map(String)).size < keys.length)
    throw createInvalidRequestRefusal('A key is listed more than once.');
  return keys;
}

export function requireTextOrNumberKey(key: unknown): Key {
  if (typeof key !== 'string' && typeof key !== 'number')
    throw createInvalidRequestRefusal('A key is a text or a number.');
  return key;
}

function parseBatch(list: unknown): readonly unknown[] {
  if (!Array.isArray(list) || list.length > CONFINED_WRITE_BOUNDS.batch)
    throw createInvalidRequestRefusal(`At most ${CONFINED_WRITE_BOUNDS.batch} rows are written at once.`);
  return list;
}

/** Checks level by level instead of recursively, since the sender chooses the depth. */
function assertDepth(payload: Payload): void {
  let level: readonly unknown[] = [payload];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > CONFINED_WRITE_BOUNDS.depth)
      throw createInvalidRequestRefusal(`A payload is nested at most ${CONFINED_WRITE_BOUNDS.depth} levels deep.`);
    level = level
      .flatMap((one) => Object.values(one as object))
      .filter((one) => typeof one === 'object' && one !== null);
  }
}
