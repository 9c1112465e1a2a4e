import { type Caller, fail } from '#kernel';
import type { SchemaBatchResult, SchemaService, SchemaWrites } from '../schema/contract.ts';
import { applySchemaDiff } from './apply/apply-diff.ts';
import {
  type FieldRename,
  type HashedDiff,
  type SchemaSnapshotDocument,
  SNAPSHOT_PARTS,
  type SnapshotDiff,
  type SnapshotPartName,
} from './contract.ts';
import { type DiffMode, diffSnapshots, renameFields } from './diff/diff-snapshots.ts';
import { isEmptyDiff } from './diff/parse-diff.ts';
import { applyPart, diffParts, type PartRegistry, readParts } from './parts/diff-parts.ts';
import { buildSnapshot, toDocument } from './snapshot/build-snapshot.ts';
import { hashSnapshot } from './snapshot/hash.ts';

export interface SchemaStateDeps {
  readonly schema: Pick<SchemaService, 'refresh'>;
  readonly writes: Pick<SchemaWrites, 'batch'>;
  readonly parts: PartRegistry;
}

interface DiffOptions {
  readonly mode: DiffMode;
  readonly renames?: readonly FieldRename[];
}

interface ApplyOptions {
  /** Applies a diff to another state than that of its hash. */
  readonly force?: boolean;
  /** Rolls everything back; parts are left out. */
  readonly trial?: boolean;
}

/** What an apply has done, or would do. */
export type ApplyResult = SchemaBatchResult<{
  /** What differs from the snapshot afterwards, since this service does not change it. Empty without `target`. */
  readonly rest: SnapshotDiff;
}>;

/** Reads, compares and changes the schema and the parts of this database. */
export interface SchemaState {
  read(caller: Caller, parts: readonly SnapshotPartName[]): Promise<SchemaSnapshotDocument>;
  /** What turns this database into the state of a snapshot; undefined where nothing does. @throws INVALID_PAYLOAD */
  diff(caller: Caller, target: SchemaSnapshotDocument, options: DiffOptions): Promise<HashedDiff | undefined>;
  /**
   * Applies a diff in one transaction.
   * @throws FORBIDDEN for callers that are not admins, INVALID_PAYLOAD where the database has changed since, and what a change throws
   */
  apply(
    caller: Caller,
    diff: HashedDiff,
    options?: ApplyOptions & { readonly target?: SchemaSnapshotDocument },
  ): Promise<ApplyResult>;
}

/** The parts that a snapshot or a diff has. */
export const partsOf = (value: Partial<Record<SnapshotPartName, unknown>>): readonly SnapshotPartName[] =>
  SNAPSHOT_PARTS.filter((name) => value[name] !== undefined);

const NO_DIFF: SnapshotDiff = { collections: [], fields: [], systemFields: [], relations: [] };

export function createSchemaState({ schema, writes, parts }: SchemaStateDeps): SchemaState {
  async function read(caller: Caller, names: readonly SnapshotPartName[]): Promise<SchemaSnapshotDocument> {
    const document = toDocument(buildSnapshot(await schema.refresh()));
    return { ...document, ...(await readParts(parts, caller, names)) };
  }

  return {
    read,

    async diff(caller, target, { mode, renames = [] }) {
      const names = partsOf(target);
      const current = await read(caller, names);
      assertRenames(current, renames);
      const found: HashedDiff = {
        hash: hashSnapshot(current, names),
        diff: {
          ...diffSnapshots(renameFields(current, renames), target, mode),
          ...diffParts(parts, current, target, mode),
        },
        ...(renames.length > 0 ? { renames } : {}),
      };
      return isEmptyDiff(found) ? undefined : found;
    },

    apply(caller, { hash, diff, renames = [] }, { force = false, trial = false, target } = {}) {
      const names = partsOf(diff);
      return writes.batch(
        caller,
        async (batch) => {
          // Under the lock of all schema changes, so that none comes between the comparison and the first change.
          const current = {
            ...toDocument(buildSnapshot(await batch.snapshot())),
            ...(await readParts(parts, caller, names)),
          };
          if (!force && hashSnapshot(current, names) !== hash)
            throw fail(
              'INVALID_PAYLOAD',
              'The schema has changed since the diff was made, so "hash" does not match. Make a new diff.',
              { path: ['hash'] },
            );
          await applySchemaDiff(batch, current, diff, renames);
          const after = target && toDocument(buildSnapshot(await batch.snapshot()));
          if (!trial)
            for (const part of parts) await applyPart(part, caller, current[part.name] ?? [], diff[part.name] ?? []);
          return { rest: after && target ? { ...diffSnapshots(after, target, 'mirror') } : NO_DIFF };
        },
        { trial },
      );
    },
  };
}

/** @throws INVALID_PAYLOAD for a rename of a field that does not exist */
function assertRenames({ fields }: SchemaSnapshotDocument, renames: readonly FieldRename[]): void {
  for (const { collection, from } of renames)
    if (!fields.some((entry) => entry.collection === collection && entry.field === from))
      throw fail('INVALID_PAYLOAD', `There is no field "${collection}.${from}" to rename.`);
}
