import { type Caller, fail } from '#kernel';
import type { RevisionSlot } from '../../activity/contract.ts';
import type { Key, Payload } from '../contract.ts';
import type { Deps } from '../deps.ts';
import { eventNames } from '../names.ts';
import { castKey, findWritable } from '../target.ts';
import { changeRows } from './change.ts';
import { createRows } from './create.ts';
import { deleteRows } from './delete.ts';
import { placedKey } from './refused-row.ts';
import type { RowPath } from './row-path.ts';
import type { RowAnswer } from './step.ts';

/** A row to be created. `given` are values the platform sets: they need no grant of the caller. */
export interface Entry {
  readonly payload: Payload;
  readonly given?: Payload;
  /** The revision of the row around it. */
  readonly above?: RevisionSlot | null;
  /** Where the row stands in the request; by itself without it. */
  readonly path?: RowPath;
  /** Of a single row, whose statement answers it where it is the last one. */
  readonly answer?: RowAnswer | undefined;
}

/** A change of one row or of several. */
export interface Change extends Entry {
  readonly keys: readonly unknown[];
}

/** Verbs on the inside of a unit of work, for all rows of one level at once. */
export interface Inner {
  create(caller: Caller, collection: string, entries: readonly Entry[]): Promise<Key[]>;
  /** Answers the keys by which the rows of each change are known afterwards. */
  update(caller: Caller, collection: string, changes: readonly Change[]): Promise<Key[][]>;
  /** `isList`: the request itself lists the keys, so that an error names the place of one. */
  remove(caller: Caller, collection: string, keys: readonly unknown[], isList?: boolean): Promise<Key[]>;
}

/** What the verbs of one request share. */
export interface Work {
  readonly deps: Deps;
  readonly inner: Inner;
  /** Every row of the whole tree counts, so a nested payload costs what it writes. */
  spend(rows: number): void;
}

/**
 * Writes level by level (ADR 10), each in the order of the conventions: event filters, permission and field list, presets,
 * validation, many-to-one rows, the rows themselves, to-many rows, and actions once everything is committed. The verbs
 * answered are those of the request itself, after which nothing follows; those for nested rows are under `inner`.
 */
export function createInner(deps: Deps): Inner {
  let written = 0;
  const spend = (rows: number): void => {
    written += rows;
    if (written > deps.maxMutations)
      throw fail(
        'INVALID_PAYLOAD',
        `the request writes ${written} rows or more, more than the ${deps.maxMutations} allowed (MAX_BATCH_MUTATION)`,
      );
  };
  const verbs = (last: boolean): Inner => ({
    async create(caller, name, entries) {
      deps.guard?.(name, 'create');
      return createRows(work, caller, name, entries, last);
    },
    async update(caller, name, changes) {
      deps.guard?.(name, 'update');
      return changeRows(work, caller, name, changes, last);
    },
    async remove(caller, name, keys, isList = false) {
      deps.guard?.(name, 'delete');
      return removeRows(work, caller, name, keys, { last, isList });
    },
  });
  const work: Work = { deps, spend, inner: verbs(false) };
  return verbs(!deps.isReplay);
}

async function removeRows(
  { deps, spend }: Work,
  caller: Caller,
  name: string,
  raw: readonly unknown[],
  { last, isList }: { readonly last: boolean; readonly isList: boolean },
) {
  const { access, events, query } = deps;
  const { collection, overview, key } = await findWritable(deps.schema, name);
  const asked = [...new Set(raw.map((one) => castKey(key, one)))];
  spend(asked.length);
  const meta = { caller, collection: name };
  const names = eventNames(collection, 'delete');
  const keys = await events.filter<readonly Key[]>(names, asked, { ...meta, keys: asked });
  await access.assertAuthority(caller, name, 'delete', [{ keys, values: {} }]);
  const where = await access.restrictWrite(collection, 'delete', [], caller, overview);
  const condition = (first: number) => query.condition(where, caller, overview, first);
  const done = await deleteRows(deps, { caller, collection, paths: [], isAround: false, last }, keys, condition).catch(
    (error) => {
      throw isList ? placedKey(error, collection, key, raw) : error;
    },
  );
  // An admin's delete of what is gone already did nothing that one could react to.
  if (done.length > 0) events.action(names, { ...meta, payload: done, keys: done });
  return done;
}
