import { type Caller, Failure } from '#kernel';
import { createPoolShareHolder } from '../../database/library.ts';
import { parsePrimaryKeyValue } from '../../query/library.ts';
import { isRowLocationField } from '../../schema/library.ts';
import type { ImportOptions, ImportRow, Payload, ReadImportBatches } from '../contract.ts';
import type { ItemsEngineDeps } from '../deps.ts';
import type { CollectionInSnapshot } from '../find-collection-and-key.ts';
import type { LevelWrites } from './level-writes.ts';
import { keyColumnNames, keyOfPayload } from './row-key.ts';
import type { RequestRowPath } from './row-path.ts';
import { upsertRows } from './to-one.ts';

/** What every pass over the rows of one import has in common. */
export interface ImportTask {
  readonly deps: ItemsEngineDeps;
  readonly caller: Caller;
  readonly name: string;
  readonly readBatches: ReadImportBatches;
  readonly options: ImportOptions;
}

/** Runs a pass over all rows. The deadline of the import applies in place of WRITE_TIMEOUT. */
export function inUnitOfWork<T>({ deps, caller, name, options }: ImportTask, work: () => Promise<T>): Promise<T> {
  const { signal } = options;
  return deps.db.transaction(work, {
    share: createPoolShareHolder(name, caller),
    ...(signal ? { signal: () => signal } : {}),
  });
}

/**
 * Writes the rows of a batch: those whose key exists are updated, the others are created.
 * @throws the error of the first row that could not be read or has no valid key, and the errors of the write
 */
export async function writeImportRows(
  { deps, caller, name, options: { signal } }: ImportTask,
  target: CollectionInSnapshot,
  writes: LevelWrites,
  rows: readonly ImportRow[],
): Promise<void> {
  signal?.throwIfAborted();
  const upserts = rows.map((row) => {
    if (row.failure) throw row.failure;
    const path = [row.position.row - 1];
    assertKeyValue(target, row.payload, path);
    return { value: row.payload, parentRevision: null, path };
  });
  await upsertRows(deps, writes, caller, name, upserts);
}

/** The key of an import is a value like any other: a wrong one is an error of the row, not a hidden row. */
function assertKeyValue(
  { collection, schemaSnapshot }: CollectionInSnapshot,
  payload: Payload,
  path: RequestRowPath,
): void {
  const { key } = collection;
  if (!key || isRowLocationField(key)) return;
  const raw = keyOfPayload(key, payload, schemaSnapshot);
  if (raw === undefined || (typeof raw !== 'object' && parsePrimaryKeyValue(key, raw) !== undefined)) return;
  const field = keyColumnNames(key).join(', ');
  throw new Failure('INVALID_PAYLOAD', `${field} is not a key of ${collection.name}.`, {
    collection: collection.name,
    field,
    path: [...path, field],
  });
}
