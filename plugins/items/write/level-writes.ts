import { type Caller, fail } from '#kernel';
import type { RevisionSlot } from '../../activity/contract.ts';
import { castKey, findWritableCollection } from '../collection-target.ts';
import type { Key, Payload } from '../contract.ts';
import type { Deps } from '../deps.ts';
import { eventNames } from '../event-names.ts';
import { changeRows } from './change.ts';
import { createRows } from './create.ts';
import { deleteRows } from './delete.ts';
import { locateKey } from './refused-row.ts';
import type { RowPath } from './row-path.ts';
import type { RowAnswer } from './write-statement.ts';

/** A row to be created. `given` are values the platform sets: they need no grant of the caller. */
export interface RowCreate {
  readonly payload: Payload;
  readonly platformValues?: Payload;
  /** The revision of the row around it. */
  readonly parentRevision?: RevisionSlot | null;
  /** Where the row stands in the request; by itself without it. */
  readonly path?: RowPath;
  /** Of a single row, whose statement answers it where it is the last one. */
  readonly answer?: RowAnswer | undefined;
}

/** A change of one row or of several. */
export interface RowChange extends RowCreate {
  readonly keys: readonly unknown[];
}

/** Verbs on the inside of a unit of work, for all rows of one level at once. */
export interface LevelWrites {
  create(caller: Caller, collection: string, entries: readonly RowCreate[]): Promise<Key[]>;
  /** Answers the keys by which the rows of each change are known afterwards. */
  update(caller: Caller, collection: string, changes: readonly RowChange[]): Promise<Key[][]>;
  /** `isList`: the request itself lists the keys, so that an error names the place of one. */
  remove(caller: Caller, collection: string, keys: readonly unknown[], isList?: boolean): Promise<Key[]>;
}

/** What the verbs of one request share. */
export interface WriteContext {
  readonly deps: Deps;
  readonly nested: LevelWrites;
  /** Every row of the whole tree counts, so a nested payload costs what it writes. */
  countRows(rows: number): void;
}

/**
 * Writes level by level (ADR 10), each in the order of the conventions: event filters, permission and field list, presets,
 * validation, many-to-one rows, the rows themselves, to-many rows, and actions once everything is committed. The verbs
 * answered are those of the request itself, after which nothing follows; those for nested rows are under `inner`.
 */
export function createLevelWrites(deps: Deps): LevelWrites {
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
    async create(caller, name, entries) {
      deps.guard?.(name, 'create');
      return createRows(work, caller, name, entries, isLast);
    },
    async update(caller, name, changes) {
      deps.guard?.(name, 'update');
      return changeRows(work, caller, name, changes, isLast);
    },
    async remove(caller, name, keys, isList = false) {
      deps.guard?.(name, 'delete');
      return removeRows(work, caller, name, keys, { isLast, isList });
    },
  });
  const work: WriteContext = { deps, countRows, nested: verbs(false) };
  return verbs(!deps.isReplay);
}

async function removeRows(
  { deps, countRows }: WriteContext,
  caller: Caller,
  name: string,
  raw: readonly unknown[],
  { isLast, isList }: { readonly isLast: boolean; readonly isList: boolean },
) {
  const { access, events, query } = deps;
  const { collection, schemaSnapshot, key } = await findWritableCollection(deps.schema, name);
  const requestedKeys = [...new Set(raw.map((one) => castKey(key, one)))];
  countRows(requestedKeys.length);
  const meta = { caller, collection: name };
  const names = eventNames(collection, 'delete');
  const keys = await events.filter<readonly Key[]>(names, requestedKeys, { ...meta, keys: requestedKeys });
  await access.assertAuthority(caller, name, 'delete', [{ keys, values: {} }]);
  const where = await access.restrictWrite(collection, 'delete', [], caller, schemaSnapshot);
  const condition = (first: number) => query.condition(where, caller, schemaSnapshot, first);
  const done = await deleteRows(
    deps,
    { caller, collection, paths: [], hasNestedRows: false, isLast },
    keys,
    condition,
  ).catch((error) => {
    throw isList ? locateKey(error, collection, key, raw) : error;
  });
  // An admin's delete of what is gone already did nothing that one could react to.
  if (done.length > 0) events.action(names, { ...meta, payload: done, keys: done });
  return done;
}
