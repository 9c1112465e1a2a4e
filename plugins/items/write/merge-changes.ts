import type { Collection, Field } from '../../schema/contract.ts';
import type { Payload } from '../contract.ts';
import { parseKeyValue } from '../find-collection-and-key.ts';
import type { RowChange } from './level-writes.ts';
import { isPayload } from './to-many-value.ts';

/**
 * Merges changes of the same row, so that a row named a thousand times is written once: the last value of a field
 * counts. Changes whose nested rows cannot be merged stay separate and run one after the other.
 */
export function mergeChangesOfSameRow(
  collection: Collection,
  key: Field,
  changes: readonly RowChange[],
): readonly RowChange[] {
  if (changes.length === 1) return changes;
  const result: (RowChange | undefined)[] = [];
  const places = new Map<string, number>();
  for (const change of changes) {
    const name = change.keys.length === 1 ? String(parseKeyValue(key, change.keys[0])) : undefined;
    const place = name === undefined ? undefined : places.get(name);
    const before = place === undefined ? undefined : result[place];
    const mergedChange = before && mergeTwoChanges(collection, before, change);
    // The merged change takes the last one's place, since the last of two parents that claim a row gets it.
    if (mergedChange) result[place as number] = undefined;
    if (name !== undefined) places.set(name, result.length);
    result.push(mergedChange ?? change);
  }
  return result.filter((one) => one !== undefined);
}

function mergeTwoChanges({ fields }: Collection, before: RowChange, after: RowChange): RowChange | undefined {
  const payload: Payload = { ...before.payload };
  for (const [name, value] of Object.entries(after.payload)) {
    if (!Object.hasOwn(payload, name)) payload[name] = value;
    else {
      const both = mergeValues(fields.get(name), payload[name], value);
      if (!both) return undefined;
      payload[name] = both.value;
    }
  }
  const platformValues =
    before.platformValues || after.platformValues
      ? { platformValues: { ...before.platformValues, ...after.platformValues } }
      : {};
  const path = after.path ? { path: after.path } : {};
  return {
    keys: after.keys,
    payload,
    ...platformValues,
    ...path,
    parentRevision: after.parentRevision ?? before.parentRevision ?? null,
  };
}

/** Merges two values of one field; undefined where rows of the first value would be lost. */
function mergeValues(
  field: Field | undefined,
  before: unknown,
  after: unknown,
): { readonly value: unknown } | undefined {
  if (!field?.relation || !containsRows(before)) return { value: after };
  if (field.relation.kind !== 'many' || !isPayload(before) || !isPayload(after)) return undefined;
  const value: Payload = { ...before };
  for (const [verb, list] of Object.entries(after)) {
    const first = value[verb] ?? [];
    if (!Array.isArray(first) || !Array.isArray(list)) return undefined;
    value[verb] = [...first, ...list];
  }
  return { value };
}

const containsRows = (value: unknown): boolean => (Array.isArray(value) ? value.some(isPayload) : isPayload(value));
