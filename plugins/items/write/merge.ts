import type { Collection, Field } from '../../schema/contract.ts';
import type { Payload } from '../contract.ts';
import { castKey } from '../target.ts';
import type { Change } from './inner.ts';
import { isPayload } from './many-value.ts';

/**
 * Changes that name the same row as one change, so that a row named a thousand times is written once: of equal fields the last
 * value counts. Changes whose nested rows cannot be told as one stay apart, and are made one after the other.
 */
export function merged(collection: Collection, key: Field, changes: readonly Change[]): readonly Change[] {
  if (changes.length === 1) return changes;
  const result: (Change | undefined)[] = [];
  const places = new Map<string, number>();
  for (const change of changes) {
    const name = change.keys.length === 1 ? String(castKey(key, change.keys[0])) : undefined;
    const place = name === undefined ? undefined : places.get(name);
    const before = place === undefined ? undefined : result[place];
    const both = before && union(collection, before, change);
    // Where the last one stood: it has the last word on rows that two parents claim.
    if (both) result[place as number] = undefined;
    if (name !== undefined) places.set(name, result.length);
    result.push(both ?? change);
  }
  return result.filter((one) => one !== undefined);
}

function union({ fields }: Collection, before: Change, after: Change): Change | undefined {
  const payload: Payload = { ...before.payload };
  for (const [name, value] of Object.entries(after.payload)) {
    if (!Object.hasOwn(payload, name)) payload[name] = value;
    else {
      const both = lastValue(fields.get(name), payload[name], value);
      if (!both) return undefined;
      payload[name] = both.value;
    }
  }
  const given = before.given || after.given ? { given: { ...before.given, ...after.given } } : {};
  const path = after.path ? { path: after.path } : {};
  return { keys: after.keys, payload, ...given, ...path, above: after.above ?? before.above ?? null };
}

/** Undefined where the rows that the first value writes would be lost. */
function lastValue(field: Field | undefined, before: unknown, after: unknown): { readonly value: unknown } | undefined {
  if (!field?.relation || !holdsRows(before)) return { value: after };
  if (field.relation.kind !== 'many' || !isPayload(before) || !isPayload(after)) return undefined;
  const value: Payload = { ...before };
  for (const [verb, list] of Object.entries(after)) {
    const first = value[verb] ?? [];
    if (!Array.isArray(first) || !Array.isArray(list)) return undefined;
    value[verb] = [...first, ...list];
  }
  return { value };
}

const holdsRows = (value: unknown): boolean => (Array.isArray(value) ? value.some(isPayload) : isPayload(value));
