import type { SchemaSnapshotDocument, SnapshotDiff } from '../contract.ts';
import { isWhole } from '../diff/diff-snapshots.ts';

/** Parts whose records are named with `--allow-drop` before they are deleted. */
const GUARDED_PARTS = ['roles', 'flows', 'dashboards'] as const;

/** What is deleted with its data. */
export interface Drop {
  /** As `--allow-drop` takes it: `collection`, `collection.field`, `roles:key`. */
  readonly name: string;
  /** The table, or that of the column; absent for a record of a part. */
  readonly collection?: string;
  readonly field?: string;
}

/** What a diff deletes with its data. Aliases and folders hold none. */
export function dropsOf(diff: SnapshotDiff, current: SchemaSnapshotDocument): readonly Drop[] {
  const tables = new Set(current.collections.filter(({ schema }) => schema).map(({ collection }) => collection));
  const columns = new Set(current.fields.filter(({ schema }) => schema).map((one) => `${one.collection}.${one.field}`));
  return [
    ...diff.collections
      .filter(({ collection, diff: differences }) => isWhole(differences, 'D') && tables.has(collection))
      .map(({ collection }) => ({ name: collection, collection })),
    ...diff.fields
      .filter(({ diff: differences }) => isWhole(differences, 'D'))
      .map(({ collection, field = '' }) => ({ name: `${collection}.${field}`, collection, field }))
      .filter(({ name }) => columns.has(name)),
    ...GUARDED_PARTS.flatMap((part) =>
      (diff[part] ?? []).filter((entry) => isWhole(entry.diff, 'D')).map(({ id }) => ({ name: `${part}:${id}` })),
    ),
  ];
}
