import { Failure, fail } from '#kernel';
import type { SchemaBatch } from '../../schema/contract.ts';
import type {
  Difference,
  EntryDiff,
  FieldEntry,
  FieldRename,
  JsonObject,
  SchemaSnapshotDocument,
  SnapshotDiff,
} from '../contract.ts';
import { applyDifferences } from '../diff/deep-diff.ts';
import { isWhole, renameFields } from '../diff/diff-snapshots.ts';
import { completeCollection, completeField, completeRelation } from '../snapshot/complete-entries.ts';
import { parseCollectionEntry, parseFieldEntry, parseRelationEntry } from '../snapshot/parse-snapshot.ts';
import { createRelationOf, recreatesRelation } from './relation-changes.ts';

type ListName = 'collections' | 'fields' | 'systemFields' | 'relations';
type Path = readonly (string | number)[];

/** One entry of a diff with its place in the diff, for errors. */
interface Change {
  readonly entry: EntryDiff;
  readonly path: Path;
}

/**
 * Applies a diff to the schema whose snapshot is `current`. Relations and fields go before collections, so that deleting a collection
 * takes no field along that stays; relations come last.
 * @throws the error of the change that failed, with the path of its entry
 */
export async function applySchemaDiff(
  batch: SchemaBatch,
  current: SchemaSnapshotDocument,
  diff: SnapshotDiff,
  renames: readonly FieldRename[],
): Promise<void> {
  for (const [at, { collection, from, to }] of renames.entries())
    await withPath(['renames', at], () => batch.renameField(collection, from, to));
  const run = new SchemaDiffRun(batch, renameFields(current, renames), diff);
  await run.createCollections();
  await run.deleteRelations();
  await run.deleteFields();
  await run.deleteCollections();
  await run.updateCollections();
  await run.createFields();
  await run.updateFields();
  await run.createRelations();
  await run.updateRelations();
}

class SchemaDiffRun {
  readonly #batch: SchemaBatch;
  readonly #current: SchemaSnapshotDocument;
  readonly #diff: SnapshotDiff;
  /** Fields whose new relation brings their index. */
  readonly #indexedByRelation = new Set<string>();
  /** Collections that the diff creates. */
  readonly #created: ReadonlySet<string>;
  /** Fields of which the diff makes foreign keys. */
  readonly #newForeignKeys: ReadonlySet<string>;

  constructor(batch: SchemaBatch, current: SchemaSnapshotDocument, diff: SnapshotDiff) {
    this.#batch = batch;
    this.#current = current;
    this.#diff = diff;
    this.#created = new Set(this.#whole('collections', 'N').map(({ entry }) => entry.collection));
    this.#newForeignKeys = new Set(
      this.#whole('relations', 'N')
        .map(({ entry }) => entry)
        .filter(({ diff: [first] }) => {
          const relation = first?.rhs as JsonObject | undefined;
          return relation?.related_collection && relation.schema !== null;
        })
        .map(({ collection, field }) => `${collection}\0${field}`),
    );
  }

  #changes(list: ListName): readonly Change[] {
    return this.#diff[list].map((entry, at) => ({ entry, path: ['diff', list, at] }));
  }

  #whole(list: ListName, kind: 'N' | 'D'): readonly Change[] {
    return this.#changes(list).filter(({ entry }) => isWhole(entry.diff, kind));
  }

  #edits(list: ListName): readonly Change[] {
    return this.#changes(list).filter(({ entry }) => !isWhole(entry.diff, 'N') && !isWhole(entry.diff, 'D'));
  }

  async createCollections(): Promise<void> {
    const fields = Map.groupBy(this.#newFields(), ({ field }) => field.collection);
    for (const { entry, path } of this.#whole('collections', 'N')) {
      const collection = parseCollectionEntry(newValue(entry.diff, path), path);
      assertSameName(entry, collection, path);
      const own = (fields.get(collection.collection) ?? []).map(({ field }) => field).sort(byPosition);
      await withPath(path, () =>
        this.#batch.createCollection({ ...collection, fields: own.map((one) => this.#toNewField(one)) }),
      );
    }
  }

  #newFields(): readonly { readonly field: FieldEntry; readonly path: Path }[] {
    return this.#whole('fields', 'N').map(({ entry, path }) => {
      const field = parseFieldEntry(newValue(entry.diff, path), path);
      assertSameName(entry, field, path);
      return { field, path };
    });
  }

  /** The index of a foreign key is made with its relation, since that one also has the primary key. */
  #toNewField(field: FieldEntry): JsonObject {
    const key = `${field.collection}\0${field.field}`;
    const isIndexed = field.schema?.is_indexed === true && this.#newForeignKeys.has(key);
    if (isIndexed) this.#indexedByRelation.add(key);
    const schema = field.schema && { ...field.schema, ...(isIndexed ? { is_indexed: false } : {}) };
    return { field: field.field, type: field.type, meta: field.meta, schema };
  }

  async deleteRelations(): Promise<void> {
    const recreated = this.#edits('relations').filter(({ entry }) => recreatesRelation(entry.diff));
    for (const { entry, path } of [...this.#whole('relations', 'D'), ...recreated])
      await withPath(path, () => this.#batch.deleteRelation(entry.collection, entry.field as string));
  }

  async deleteFields(): Promise<void> {
    for (const { entry, path } of this.#whole('fields', 'D')) {
      const { collections } = await this.#batch.snapshot();
      // The alias of a relation is deleted with the field on its other side.
      if (!collections.get(entry.collection)?.fields.has(entry.field as string)) continue;
      await withPath(path, () => this.#batch.deleteField(entry.collection, entry.field as string));
    }
  }

  async deleteCollections(): Promise<void> {
    for (const { entry, path } of this.#whole('collections', 'D'))
      await withPath(path, () => this.#batch.deleteCollection(entry.collection));
  }

  async updateCollections(): Promise<void> {
    for (const { entry, path } of this.#edits('collections')) {
      const now = this.#current.collections.find(({ collection }) => collection === entry.collection);
      const changed = change(now && completeCollection(now), entry.diff, path);
      const { meta, schema } = parseCollectionEntry(changed, path);
      if ((schema === null) !== (now?.schema === null))
        throw fail('INVALID_PAYLOAD', `"${entry.collection}" cannot change between a folder and a table.`, { path });
      await withPath(path, () => this.#batch.updateCollection(entry.collection, { meta, schema }));
    }
  }

  async createFields(): Promise<void> {
    for (const { field, path } of this.#newFields().toSorted((a, b) => byPosition(a.field, b.field))) {
      if (this.#created.has(field.collection)) continue;
      await withPath(path, () => this.#batch.createField(field.collection, this.#toNewField(field)));
    }
  }

  async updateFields(): Promise<void> {
    for (const { entry, path } of this.#edits('fields')) {
      const now = this.#current.fields.find(
        ({ collection, field }) => collection === entry.collection && field === entry.field,
      );
      const { type, meta, schema } = parseFieldEntry(change(now && completeField(now), entry.diff, path), path);
      const input = now?.type === type && type === 'alias' ? { meta } : { type, meta, schema };
      await withPath(path, () => this.#batch.updateField(entry.collection, entry.field as string, input));
    }
    for (const { entry, path } of this.#changes('systemFields')) {
      const isIndexed = entry.diff.at(-1)?.rhs === true;
      const input = { schema: { is_indexed: isIndexed } };
      await withPath(path, () => this.#batch.updateField(entry.collection, entry.field as string, input));
    }
  }

  async createRelations(): Promise<void> {
    const recreated = this.#edits('relations').filter(({ entry }) => recreatesRelation(entry.diff));
    for (const { entry, path } of [...this.#whole('relations', 'N'), ...recreated]) {
      const value = isWhole(entry.diff, 'N')
        ? newValue(entry.diff, path)
        : change(this.#currentRelation(entry), entry.diff, path);
      const relation = parseRelationEntry(value, path);
      const isIndexed = this.#indexedByRelation.has(`${relation.collection}\0${relation.field}`);
      await withPath(path, () => this.#batch.createRelation(createRelationOf(relation, isIndexed)));
    }
  }

  async updateRelations(): Promise<void> {
    for (const { entry, path } of this.#edits('relations')) {
      if (recreatesRelation(entry.diff)) continue;
      const { meta, schema } = parseRelationEntry(change(this.#currentRelation(entry), entry.diff, path), path);
      await withPath(path, () => this.#batch.updateRelation(entry.collection, entry.field as string, { meta, schema }));
    }
  }

  #currentRelation({ collection, field }: EntryDiff): unknown {
    const now = this.#current.relations.find((one) => one.collection === collection && one.field === field);
    return now && completeRelation(now);
  }
}

/** Keys first, then by `meta.sort`, then by name: the order of columns in a new table. */
function byPosition(a: FieldEntry, b: FieldEntry): number {
  const rank = ({ schema, meta }: FieldEntry) =>
    schema?.is_primary_key === true ? -1 : typeof meta?.sort === 'number' ? meta.sort : Number.MAX_SAFE_INTEGER;
  return rank(a) - rank(b) || (a.field < b.field ? -1 : 1);
}

function newValue([first]: readonly Difference[], path: Path): JsonObject {
  const value = first?.rhs;
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw fail('INVALID_PAYLOAD', '"rhs" must be an object.', { path });
  return value as JsonObject;
}

function change(now: unknown, differences: readonly Difference[], path: Path): JsonObject {
  if (now === undefined) throw fail('INVALID_PAYLOAD', 'The entry to change does not exist.', { path });
  try {
    return applyDifferences(now, differences) as JsonObject;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw fail('INVALID_PAYLOAD', `The differences do not fit the current entry: ${error.message}.`, { path });
  }
}

function assertSameName(entry: EntryDiff, value: { collection: string; field?: string }, path: Path): void {
  if (entry.collection !== value.collection || (entry.field !== undefined && entry.field !== value.field))
    throw fail('INVALID_PAYLOAD', 'The entry and its "rhs" have different names.', { path });
}

/** Adds the place of the change to its failure. */
async function withPath<T>(path: Path, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw fail(error.code, error.detail ?? error.message, { ...error.extensions, path });
  }
}
