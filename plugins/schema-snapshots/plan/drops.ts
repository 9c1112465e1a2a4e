import type { SchemaSnapshotDocument, SnapshotDiff } from '../contract.ts';
import { isWhole } from '../diff/diff-snapshots.ts';

/** Parts whose records are named with `--allow-drop` before they are deleted. */
const GUARDED_PARTS = ['roles', 'flows', 'dashboards'] as const;

/**
 * The names of what a diff deletes with its data, as `--allow-drop` takes them: `collection`, `collection.field`, `roles:key`. Aliases
 * and folders hold no data.
 */
export function dropsOf(diff: SnapshotDiff, current: SchemaSnapshotDocument): readonly string[] {
  const tables = new Set(current.collections.filter(({ schema }) => schema).map(({ collection }) => collection));
  const columns = new Set(current.fields.filter(({ schema }) => schema).map((one) => `${one.collection}.${one.field}`));
  return [
    ...diff.collections
      .filter(({ collection, diff: differences }) => isWhole(differences, 'D') && tables.has(collection))
      .map(({ collection }) => collection),
    ...diff.fields
      .filter(({ diff: differences }) => isWhole(differences, 'D'))
      .map(({ collection, field }) => `${collection}.${field}`)
      .filter((name) => columns.has(name)),
    ...GUARDED_PARTS.flatMap((part) =>
      (diff[part] ?? []).filter((entry) => isWhole(entry.diff, 'D')).map(({ id }) => `${part}:${id}`),
    ),
  ];
}
