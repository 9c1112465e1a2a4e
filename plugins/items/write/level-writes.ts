import { type Caller, fail } from '#kernel';
import type { PendingRevisionId } from '../../activity/contract.ts';
import type { Key, Payload } from '../contract.ts';
import type { ItemsEngineDeps } from '../deps.ts';
import { itemEventNames } from '../event-names.ts';
import { findWritableCollection, parseKeyValue } from '../find-collection-and-key.ts';
import { createRows } from './create.ts';
import { deleteRows } from './delete.ts';
import type { RequestRowPath } from './row-path.ts';
import { updateLevelRows } from './update-level-rows.ts';
import { locateRefusedKey } from './write-rows-locating-refusal.ts';
import type { WrittenRowTextSlot } from './write-statement.ts';

/** A row to create. `platformValues` need no grant of the caller. */
export interface RowCreate {
  readonly payload: Payload;
  readonly platformValues?: Payload;
  /** The revision of the parent row. */
  readonly parentRevision?: PendingRevisionId | null;
  /** The path of the row in the request; undefined for the one row of a request. */
  readonly path?: RequestRowPath;
}

/** A change of one row or of several by the same payload. */
export interface RowChange extends RowCreate {
  readonly keys: readonly unknown[];
  /** For a single row: lets the last statement of the unit of work answer it. */
  readonly answer?: WrittenRowTextSlot | undefined;
}

/** Write verbs inside of a unit of work, for all rows of one level at once. */
export interface LevelWrites {
  /** `answer`: lets the last statement of the unit of work answer the rows, where one statement creates all of them. */
  create(
    caller: Caller,
    collection: string,
    entries: readonly RowCreate[],
    answer?: WrittenRowTextSlot,
  ): Promise<Key[]>;
  /** Returns the keys of the rows after each change. */
  update(caller: Caller, collection: string, changes: readonly RowChange[]): Promise<Key[][]>;
  /** `isList`: the request itself lists the keys, so that the path of an error is an index. */
  remove(caller: Caller, collection: string, keys: readonly unknown[], isList?: boolean): Promise<Key[]>;
}

/** The state that the create, update and delete verbs of one request share. */
export interface LevelWriteContext {
  readonly deps: ItemsEngineDeps;
  readonly nested: LevelWrites;
  /** Counts every row of the whole tree. @throws INVALID_PAYLOAD for more than MAX_BATCH_MUTATION */
  countRows(rows: number): void;
}

/**
 * Writes level by level (ADR 10), each in the order of the conventions: event filters, permissions and field list,
 * presets, validation, many-to-one rows, the rows themselves, to-many rows, and actions after the commit. The verbs
 * returned are those of the request itself, which end the unit of work, unless `endsUnit` is false; those for nested
 * rows are in `nested`.
 */
export function createLevelWrites(
  deps: ItemsEngineDeps,
  { endsUnit = !deps.isReplay }: { readonly endsUnit?: boolean } = {},
): LevelWrites {
  let written = 0;
  const countRows = (rows: number): void => {
    written += rows;
    if (written > deps.maxMutations)
      throw fail(
        'INVALID_PAYLOAD',
        `the request writes ${written} rows or more, more than the ${deps.maxMutations} allowed (MAX_BATCH_MUTATION)`,
      );
  };
  const verbs = (isLast: boolean): LevelWrites => ({
    async create(caller, name, entries, answer) {
      deps.guard?.(name, 'create');
      return createRows(work, caller, name, entries, { isLast, answer });
    },
    async update(caller, name, changes) {
      deps.guard?.(name, 'update');
      return updateLevelRows(work, caller, name, changes, isLast);
    },
    async remove(caller, name, keys, isList = false) {
      deps.guard?.(name, 'delete');
      return removeRows(work, caller, name, keys, { isLast, isList });
    },
  });
  const work: LevelWriteContext = { deps, countRows, nested: verbs(false) };
  return verbs(endsUnit);
}

async function removeRows(
  { deps, countRows }: LevelWriteContext,
  caller: Caller,
  name: string,
  raw: readonly unknown[],
  { isLast, isList }: { readonly isLast: boolean; readonly isList: boolean },
) {
  const { access, events, query } = deps;
  const { collection, schemaSnapshot, key } = await findWritableCollection(deps.schema, name);
  const requestedKeys = [...new Set(raw.map((one) => parseKeyValue(key, one)))];
  countRows(requestedKeys.length);
  const meta = { caller, collection: name };
  const names = itemEventNames(collection, 'delete');
  const keys = await events.filter<readonly Key[]>(names, requestedKeys, { ...meta, keys: requestedKeys });
  await access.assertAuthority(caller, name, 'delete', [{ keys, values: {} }]);
  const where = await access.restrictWrite(collection, 'delete', [], caller, schemaSnapshot);
  const condition = (first: number) => query.compileCondition(where, caller, schemaSnapshot, first);
  const deletedKeys = await deleteRows(
    deps,
    { caller, collection, paths: [], hasNestedRows: false, isLast },
    keys,
    condition,
  ).catch((error) => {
    throw isList ? locateRefusedKey(error, collection, key, raw) : error;
  });
  // A delete that found no row fires no action.
  if (deletedKeys.length > 0) events.action(names, { ...meta, payload: deletedKeys, keys: deletedKeys });
  return deletedKeys;
}
