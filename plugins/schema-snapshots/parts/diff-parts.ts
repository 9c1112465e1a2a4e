import { type Caller, fail } from '#kernel';
import type { JsonObject, PartEntryDiff, SnapshotPartName, SnapshotParts } from '../contract.ts';
import { applyDifferences, deepDiff } from '../diff/deep-diff.ts';
import type { DiffMode } from '../diff/diff-snapshots.ts';
import type { PartChange, SnapshotPart } from './part.ts';

export type PartRegistry = readonly SnapshotPart[];

/** Reads the records of some parts. */
export async function readParts(
  parts: PartRegistry,
  caller: Caller,
  names: readonly SnapshotPartName[],
): Promise<SnapshotParts> {
  const chosen = parts.filter(({ name }) => names.includes(name));
  const entries: [SnapshotPartName, readonly JsonObject[]][] = [];
  for (const part of chosen) entries.push([part.name, await part.read(caller)]);
  return Object.fromEntries(entries);
}

/** The differences of the parts that the snapshot has. @throws INVALID_PAYLOAD for a record that is listed twice */
export function diffParts(
  parts: PartRegistry,
  current: SnapshotParts,
  target: SnapshotParts,
  mode: DiffMode,
): Partial<Record<SnapshotPartName, readonly PartEntryDiff[]>> {
  const chosen = parts.filter(({ name }) => target[name] !== undefined);
  return Object.fromEntries(
    chosen.map((part) => [part.name, diffPart(part, current[part.name] ?? [], target[part.name] ?? [], mode)]),
  );
}

function diffPart(
  part: SnapshotPart,
  current: readonly JsonObject[],
  target: readonly JsonObject[],
  mode: DiffMode,
): readonly PartEntryDiff[] {
  const before = new Map(current.map((record) => [part.idOf(record), record]));
  const after = new Map<string, JsonObject>();
  for (const record of target) {
    const id = part.idOf(record);
    if (after.has(id)) throw fail('INVALID_PAYLOAD', `"${id}" is listed twice.`, { path: [part.name] });
    after.set(id, part.complete(record, current));
  }
  const ids = [...new Set([...before.keys(), ...after.keys()])].sort();
  return ids.flatMap((id) => {
    if (!after.has(id) && (mode === 'merge' || !part.deletes)) return [];
    const diff = deepDiff(before.get(id), after.get(id));
    return diff.length === 0 ? [] : [{ id, diff }];
  });
}

/** Writes the differences of one part. @throws the error of the write, with the part as its path */
export async function applyPart(
  part: SnapshotPart,
  caller: Caller,
  current: readonly JsonObject[],
  entries: readonly PartEntryDiff[],
): Promise<void> {
  const changes = entries.map(({ id, diff }): PartChange => {
    const before = current.find((record) => part.idOf(record) === id) ?? null;
    let after: unknown;
    try {
      after = applyDifferences(before ?? undefined, diff);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      const reason = `The differences do not fit "${id}": ${error.message}.`;
      throw fail('INVALID_PAYLOAD', reason, { path: ['diff', part.name] });
    }
    if (after !== undefined && (typeof after !== 'object' || after === null || Array.isArray(after)))
      throw fail('INVALID_PAYLOAD', `"${id}" must be an object.`, { path: ['diff', part.name] });
    return { id, before, after: (after as JsonObject | undefined) ?? null };
  });
  await part.apply(caller, changes);
}
