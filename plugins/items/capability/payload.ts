import type { Key, Payload } from '../contract.ts';
import { invalid, isObject } from './shape.ts';

/** Bounds of what confined code writes (conventions, "items"). */
export const MAX = { bytes: 128 * 1024, depth: 64, batch: 100, mutations: 500 } as const;

/** A plain object within its bounds. */
export function checkedPayload(payload: unknown): Payload {
  if (!isObject(payload)) throw invalid('What is written is an object.');
  checkDepth(payload);
  if (Buffer.byteLength(JSON.stringify(payload)) > MAX.bytes)
    throw invalid(`What is written has at most ${MAX.bytes} bytes.`);
  return payload;
}

export const checkedPayloads = (list: unknown): readonly Payload[] => batch(list).map(checkedPayload);

/** Keys that differ also as texts, which is how rows are found by them. */
export function checkedKeys(list: unknown): readonly Key[] {
  const keys = batch(list).map(checkedKey);
  if (new Set(keys.map(String)).size < keys.length) throw invalid('Each key is named once.');
  return keys;
}

export function checkedKey(key: unknown): Key {
  if (typeof key !== 'string' && typeof key !== 'number') throw invalid('A key is a text or a number.');
  return key;
}

function batch(list: unknown): readonly unknown[] {
  if (!Array.isArray(list) || list.length > MAX.batch) throw invalid(`At most ${MAX.batch} rows are written at once.`);
  return list;
}

/** Level by level: how deep it goes is the sender's choice. */
function checkDepth(payload: Payload): void {
  let level: readonly unknown[] = [payload];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX.depth) throw invalid(`What is written is nested at most ${MAX.depth} levels deep.`);
    level = level
      .flatMap((one) => Object.values(one as object))
      .filter((one) => typeof one === 'object' && one !== null);
  }
}
