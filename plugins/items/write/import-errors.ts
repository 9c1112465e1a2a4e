import { Failure, Failures } from '#kernel';
import { CustomFailure } from '../../http/library.ts';
import type { ImportRow } from '../contract.ts';
import type { CollectionInSnapshot } from '../find-collection-and-key.ts';
import { translatePostgresWriteError } from './database-errors.ts';
import { explainConstraintRefusal } from './explain-refusal.ts';
import { type ImportTask, inUnitOfWork, writeImportRows } from './import-pass.ts';
import { createLevelWrites, type LevelWrites } from './level-writes.ts';
import { prefixErrorPath } from './row-path.ts';
import { StatementRefusal } from './statement-refusal.ts';

const DEFAULT_MAX_ERRORS = 1000;

/** Ends a pass that only looks for errors. */
const ROLLBACK = new Error('an import with errors is rolled back');

interface RowError {
  readonly error: unknown;
  readonly position: ImportRow['position'];
}

/** Whether an error is about rows: those of the database itself, of the client and of the service are not. */
export const isRowFailure = (error: unknown): boolean =>
  error instanceof Failures || (error instanceof Failure && error.status < 500 && error.code !== 'OUT_OF_TIME');

/**
 * Finds the errors of all rows, at most `maxErrors`, in the order of the rows. Each batch is written behind a savepoint;
 * a rejected one is bisected, and what the database accepts stays written until the end, so that rows that depend on
 * one another are judged as in the import. Everything is rolled back. Event filters are called again.
 */
export async function findImportErrors(task: ImportTask, target: CollectionInSnapshot): Promise<readonly Failure[]> {
  const maxErrors = task.options.maxErrors ?? DEFAULT_MAX_ERRORS;
  const errors: RowError[] = [];
  const { events } = task.deps;
  const deps = { ...task.deps, maxMutations: Number.POSITIVE_INFINITY, events: { ...events, action: () => {} } };
  const pass = { ...task, deps };
  await inUnitOfWork(pass, async () => {
    const writes = createLevelWrites(deps, { endsUnit: false });
    for await (const batch of pass.readBatches()) {
      const found = await findErrorsOfBatch(pass, target, writes, batch, maxErrors - errors.length);
      errors.push(...found);
      if (errors.length >= maxErrors) break;
    }
    throw ROLLBACK;
  }).catch((error: unknown) => {
    if (error !== ROLLBACK) throw error;
  });
  const failures: Failure[] = [];
  for (const { error, position } of errors)
    failures.push(...toRowFailures(await explainConstraintRefusal(task.deps, task.caller, error), position));
  return failures.slice(0, maxErrors);
}

async function findErrorsOfBatch(
  task: ImportTask,
  target: CollectionInSnapshot,
  writes: LevelWrites,
  batch: readonly ImportRow[],
  limit: number,
): Promise<readonly RowError[]> {
  const errors: RowError[] = [];
  const isOver = () => errors.length >= limit;

  async function writeLocatingErrors(rows: readonly ImportRow[]): Promise<void> {
    const [first] = rows;
    if (!first || isOver()) return;
    const error = await writeBehindSavepoint(task, target, writes, rows);
    if (error === undefined) return;
    if (rows.length === 1) {
      errors.push({ error, position: first.position });
      return;
    }
    const middle = rows.length >> 1;
    await writeLocatingErrors(rows.slice(0, middle));
    await writeLocatingErrors(rows.slice(middle));
  }

  for (const { failure, position } of batch)
    if (failure && !isOver()) errors.push({ error: prefixErrorPath([position.row - 1], failure), position });
  await writeLocatingErrors(batch.filter(({ failure }) => !failure));
  return errors.sort((one, other) => one.position.row - other.position.row);
}

/** Writes rows; undefined where they are accepted, else the error, after a rollback to the savepoint. */
async function writeBehindSavepoint(
  task: ImportTask,
  target: CollectionInSnapshot,
  writes: LevelWrites,
  rows: readonly ImportRow[],
): Promise<unknown> {
  const { db } = task.deps;
  await db.query('savepoint import_rows');
  try {
    await writeImportRows(task, target, writes, rows);
    await db.query('release savepoint import_rows');
    return undefined;
  } catch (error) {
    const failure = translatePostgresWriteError(error, target.collection);
    if (!isRowFailure(failure)) throw failure;
    await db.query('rollback to savepoint import_rows');
    await db.query('release savepoint import_rows');
    return failure;
  }
}

/** The failures of an error, with the position of its row in `extensions`. */
export function toRowFailures(error: unknown, position: Partial<ImportRow['position']> = {}): readonly Failure[] {
  if (error instanceof Failures) return error.failures.flatMap((one) => toRowFailures(one, position));
  if (error instanceof CustomFailure) {
    const { code, message } = error.toClientView();
    const extensions = { ...position, ...error.extensions };
    return [new CustomFailure(error.code, { status: error.status, code, message, extensions })];
  }
  if (error instanceof StatementRefusal || (error instanceof Failure && error.constructor === Failure))
    return [new Failure(error.code, error.detail, { ...position, ...error.extensions })];
  return [error as Failure];
}
