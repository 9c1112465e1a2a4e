import type { FieldEntry, FieldRename, SnapshotDiff } from '../contract.ts';
import { isWhole } from '../diff/diff-snapshots.ts';

/** Fields that are dropped beside a new field of the same collection and type: without `--rename` their data is lost. */
export function findPossibleRenames(diff: SnapshotDiff): readonly FieldRename[] {
  const added = diff.fields
    .filter((entry) => isWhole(entry.diff, 'N'))
    .map((entry) => entry.diff[0]?.rhs as FieldEntry);
  return diff.fields
    .filter((entry) => isWhole(entry.diff, 'D'))
    .flatMap((entry) => {
      const dropped = entry.diff[0]?.lhs as FieldEntry;
      if (!dropped.schema) return [];
      return added
        .filter((one) => one.collection === dropped.collection && one.type === dropped.type && one.schema)
        .map((one) => ({ collection: one.collection, from: dropped.field, to: one.field }));
    });
}
