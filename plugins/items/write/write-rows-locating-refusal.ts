import type { Db } from '../../database/contract.ts';
import type { Collection, Field } from '../../schema/contract.ts';
import type { Key, Payload } from '../contract.ts';
import { parseKeyValue } from '../find-collection-and-key.ts';
import { fieldOfColumn, isFromNestedStatement, parsePostgresErrorKey } from './postgres-error.ts';
import { prefixCommonErrorPath, prefixErrorPath, type RequestRowPath } from './row-path.ts';
import { StatementRefusal } from './statement-refusal.ts';

/** Writes the rows from index `from` up to, but without, `to`. */
type WriteSlice = (from: number, to: number) => Promise<Key[]>;

/**
 * Writes rows in one statement. PostgreSQL does not say which row it rejects. A missing referenced row is found by its
 * key among the values; other rows are found in a replay, by bisection.
 */
export async function writeRowsLocatingRefusal(
  { db, isReplay }: { readonly db: Db; readonly isReplay?: true },
  collection: Collection,
  rows: readonly Payload[],
  paths: readonly RequestRowPath[],
  write: WriteSlice,
): Promise<Key[]> {
  if (isReplay && rows.length > 1) return writeByHalves(db, rows.length, paths, write);
  try {
    return await write(0, rows.length);
  } catch (error) {
    if (!(error instanceof StatementRefusal)) throw error;
    const at = rows.length === 1 ? 0 : findRowOfKey(error, collection, rows);
    throw at === undefined ? prefixCommonErrorPath(paths, error) : withLocation(paths[at] ?? [], error);
  }
}

const withLocation = (path: RequestRowPath, refusal: StatementRefusal): unknown =>
  prefixErrorPath(path, refusal.with({ isLocated: true }));

/** The index of the first row whose foreign key refers to no row; every row with this foreign key is rejected. */
function findRowOfKey(
  { statement }: StatementRefusal,
  collection: Collection,
  rows: readonly Payload[],
): number | undefined {
  const { error } = statement;
  const key =
    error.code === '23503' && !isFromNestedStatement(error) ? parsePostgresErrorKey(error, collection) : undefined;
  const fields = key?.columns.map((column) => fieldOfColumn(collection, column));
  if (!key || !fields?.every((field) => field !== undefined)) return undefined;
  const at = rows.findIndex(
    (row) => fields.map(({ name }) => String(row[name]).toLowerCase()).join(', ') === key.value,
  );
  return at < 0 ? undefined : at;
}

/** Adds the index of the key whose row cannot be deleted, since other rows refer to it. */
export function locateRefusedKey(error: unknown, collection: Collection, key: Field, raw: readonly unknown[]): unknown {
  if (!(error instanceof StatementRefusal) || isFromNestedStatement(error.statement.error)) return error;
  const { columns = [], value } = parsePostgresErrorKey(error.statement.error, collection) ?? {};
  if (columns.length !== 1 || columns[0] !== key.column?.name) return error;
  const at = raw.findIndex((one) => String(parseKeyValue(key, one)) === value);
  return at < 0 ? error : withLocation([at], error);
}

/**
 * Writes all rows, or finds the first rejected one by bisection: each accepted half stays written, so that rows that
 * conflict with each other are found as well. It takes at most two statements more than the logarithm of the number of
 * rows.
 */
async function writeByHalves(
  db: Db,
  count: number,
  paths: readonly RequestRowPath[],
  write: WriteSlice,
): Promise<Key[]> {
  const attempt = (from: number, to: number) => inSavepoint(db, () => write(from, to));
  const wholeError = await attempt(0, count);
  if (!(wholeError instanceof StatementRefusal)) return wholeError;
  let [from, to] = [0, count];
  let refusal: StatementRefusal | undefined;
  while (to - from > 1 || !refusal) {
    const middle = to - from > 1 ? (from + to) >> 1 : to;
    const part = await attempt(from, middle);
    if (part instanceof StatementRefusal) {
      if (!hasSameRefusalCause(part, wholeError)) throw prefixCommonErrorPath(paths, wholeError);
      to = middle;
      refusal = part;
    } else {
      if (middle === to) throw prefixCommonErrorPath(paths, wholeError);
      from = middle;
      refusal = undefined;
    }
  }
  throw withLocation(paths[from] ?? [], refusal);
}

/** The keys of the rows, or the refusal, after a rollback to the savepoint. */
async function inSavepoint(db: Db, write: () => Promise<Key[]>): Promise<Key[] | StatementRefusal> {
  await db.query('savepoint part_of_rows');
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof StatementRefusal)) throw error;
    await db.query('rollback to savepoint part_of_rows');
    return error;
  }
}

/**
 * Whether a part fails for the reason of the whole, or for one of its own rows. A part that refers to rows after it, or
 * takes a value that one of them gives up, fails for a reason that the whole does not have.
 */
export function hasSameRefusalCause(
  { statement: part }: StatementRefusal,
  { statement: whole }: StatementRefusal,
): boolean {
  const { code, constraint } = part.error;
  if (isFromNestedStatement(part.error) !== isFromNestedStatement(whole.error) || code === '23503') return false;
  if (code === whole.error.code && constraint === whole.error.constraint) return true;
  const isOfValues = code.startsWith('22') || code === '23502' || code === '23514';
  return isOfValues || (part.action === 'create' && (code === '23505' || code === '23P01'));
}
