import type { Difference, EntryDiff, FieldRename, SchemaSnapshotDocument, SnapshotDiff } from '../contract.ts';
import { completeCollection, completeField, completeRelation } from '../snapshot/complete-entries.ts';
import { deepDiff } from './deep-diff.ts';

/** `mirror`: the database becomes exactly as the snapshot. `merge`: nothing is deleted. */
export type DiffMode = 'mirror' | 'merge';

interface Entry {
  readonly collection: string;
  readonly field?: string;
  readonly related_collection?: string | null;
}

/**
 * The differences that turn the current schema into that of a snapshot, without parts. Only collections that a partial snapshot has are
 * compared.
 */
export function diffSnapshots(
  current: SchemaSnapshotDocument,
  target: SchemaSnapshotDocument,
  mode: DiffMode,
): Pick<SnapshotDiff, 'collections' | 'fields' | 'systemFields' | 'relations'> {
  const named = new Set([...target.collections, ...target.fields].map(({ collection }) => collection));
  const isCompared = ({ collection }: Entry) => target.version === 1 || named.has(collection);
  const keeps = mode === 'merge';
  const compare = <T extends Entry>(from: readonly T[], to: readonly T[], complete: (entry: T) => T) =>
    compareEntries(from.filter(isCompared).map(complete), to, keeps);
  const collections = compare(current.collections, target.collections, completeCollection);
  const deleted = new Set(collections.filter(({ diff }) => isWhole(diff, 'D')).map(({ collection }) => collection));
  // What belongs to a deleted collection is deleted with it.
  const isKept = ({ collection }: Entry) => !deleted.has(collection);
  return {
    collections,
    fields: compare(current.fields, target.fields, completeField).filter(isKept),
    systemFields: diffSystemFields(current, target),
    relations: compare(current.relations, target.relations, completeRelation).filter(isKept),
  };
}

/** Whether the differences are one of this kind for the whole entry. */
export const isWhole = ([first]: readonly Difference[], kind: 'N' | 'D'): boolean =>
  first?.kind === kind && first.path === undefined;

const keyOf = ({ collection, field }: Entry): string => `${collection}\0${field ?? ''}`;

function compareEntries<T extends Entry>(from: readonly T[], to: readonly T[], keeps: boolean): readonly EntryDiff[] {
  const before = new Map(from.map((entry) => [keyOf(entry), entry]));
  const after = new Map(to.map((entry) => [keyOf(entry), entry]));
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((key) => {
    const [lhs, rhs] = [before.get(key), after.get(key)];
    if (keeps && rhs === undefined) return [];
    const diff = deepDiff(lhs, rhs);
    const { collection, field, related_collection: related } = (rhs ?? lhs) as T;
    return diff.length === 0
      ? []
      : [
          {
            collection,
            ...(field === undefined ? {} : { field }),
            ...(related === undefined ? {} : { related_collection: related }),
            diff,
          },
        ];
  });
}

/** Indexes of system fields are only added: an older snapshot does not know all that the service itself creates. */
function diffSystemFields(current: SchemaSnapshotDocument, target: SchemaSnapshotDocument): readonly EntryDiff[] {
  const indexed = new Set(current.systemFields.map(keyOf));
  return target.systemFields
    .filter((entry) => entry.schema.is_indexed && !indexed.has(keyOf(entry)))
    .map(({ collection, field }) => ({
      collection,
      field,
      diff: [{ kind: 'E', path: ['schema', 'is_indexed'], lhs: false, rhs: true }],
    }));
}

/** A snapshot as it is after the renames. */
export function renameFields(
  snapshot: SchemaSnapshotDocument,
  renames: readonly FieldRename[],
): SchemaSnapshotDocument {
  return renames.reduce(renameField, snapshot);
}

function renameField(snapshot: SchemaSnapshotDocument, { collection, from, to }: FieldRename): SchemaSnapshotDocument {
  const rename = (name: unknown) => (name === from ? to : name);
  const renameIn = <T extends object | null>(value: T, members: readonly string[]): T =>
    value &&
    ({
      ...value,
      ...Object.fromEntries(
        members
          .filter((name) => Object.hasOwn(value, name))
          .map((name) => [name, rename((value as Record<string, unknown>)[name])]),
      ),
    } as T);
  return {
    ...snapshot,
    collections: snapshot.collections.map((entry) =>
      entry.collection === collection
        ? { ...entry, meta: renameIn(entry.meta, ['sort_field', 'archive_field']) }
        : entry,
    ),
    fields: snapshot.fields.map((entry) =>
      entry.collection === collection
        ? {
            ...renameIn(entry, ['field']),
            meta: renameIn(entry.meta, ['field', 'group']),
            schema: entry.field === from ? renameIn(entry.schema, ['name']) : entry.schema,
          }
        : entry,
    ),
    relations: snapshot.relations.map((entry) => {
      const isMany = entry.collection === collection;
      const isOne = entry.related_collection === collection;
      const many = ['many_field', 'junction_field', 'sort_field', 'one_collection_field'];
      const meta = renameIn(entry.meta, [...(isMany ? many : []), ...(isOne ? ['one_field'] : [])]);
      return isMany
        ? { ...renameIn(entry, ['field']), meta, schema: renameIn(entry.schema, ['column']) }
        : { ...entry, meta, schema: isOne ? renameIn(entry.schema, ['foreign_key_column']) : entry.schema };
    }),
  };
}
