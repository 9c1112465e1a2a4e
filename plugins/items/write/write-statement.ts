import { type Caller, type Failure, fail } from '#kernel';
import type { HistorySql, RecordedStatement, RevisionPlace } from '../../activity/contract.ts';
import { keptExpression } from '../../query/library.ts';
import type { Collection, Field } from '../../schema/contract.ts';
import type { Key } from '../contract.ts';
import type { Deps } from '../deps.ts';
import { RowLocation } from '../row-location.ts';
import { toWriteError } from './database-errors.ts';
import { toInputError } from './input-error.ts';
import type { RowPath } from './row-path.ts';

export type StatementDeps = Pick<Deps, 'db' | 'activity' | 'statements' | 'isReplay'>;

/** Whose rows a statement writes, and how it stands to the rest of the unit of work. */
export interface WriteStatement {
  readonly caller: Caller;
  readonly collection: Collection;
  /** One for each row, in a nested write of rows that have revisions. */
  readonly revisionPlaces?: readonly RevisionPlace[];
  /** One for each row. */
  readonly paths: readonly RowPath[];
  /** Rows written later are part of these. */
  readonly hasNestedRows: boolean;
  /** Nothing follows in the unit of work. */
  readonly isLast: boolean;
  /** Of the one row that is written. */
  readonly answer?: RowAnswer | undefined;
}

/** JSON text of the row `t` as it is written: its SQL, and what the statement answered. */
export interface RowAnswer {
  readonly sql: string;
  data?: string;
}

/** One statement being made. */
export interface OpenStatement {
  /** Who asks and where the rows stand; the statement's own parameters come after them. */
  readonly values: readonly unknown[];
  /** What the text depends on beside the columns. */
  readonly variant: string;
  /** `sets`: the fields an update sets. */
  historySql(sets?: readonly Field[]): HistorySql;
  /** Runs it and answers the keys of the rows. `ownerOf` tells which field a parameter, counted from 1, is a value of. */
  run(
    shape: { readonly text: string; readonly name?: string },
    values: readonly unknown[],
    refusal: () => Failure,
    ownerOf?: (param: number) => Field | undefined,
  ): Promise<Key[]>;
}

const NO_HISTORY: HistorySql = { returning: '', readsBefore: false, ctes: '', from: 'changed', order: '', places: '' };

/** `keys` where the statement finds several rows by their keys. */
export function openStatement(
  { db, activity }: StatementDeps,
  action: RecordedStatement['action'],
  { caller, collection, revisionPlaces, hasNestedRows, isLast, answer }: WriteStatement,
  keys?: readonly Key[],
): OpenStatement {
  const level = activity.historyLevel(collection);
  const historyPlaces =
    revisionPlaces && level === 'all' && action !== 'delete'
      ? { rows: revisionPlaces, ...(keys ? { keys } : {}) }
      : undefined;
  const history = level ? activity.bindHistory(caller, historyPlaces) : undefined;
  const nested = historyPlaces && (keys ? 'by key' : 'in order');
  return {
    values: history?.values ?? [],
    variant: `${action} ${nested} ${hasNestedRows} ${answer?.sql}`,
    historySql: (sets) =>
      level
        ? activity.historySql({
            action,
            collection,
            sets,
            expression: keptExpression,
            firstParameter: 1,
            nested,
            hasNestedRows,
          })
        : NO_HISTORY,
    async run({ text, name }, values, refusal, ownerOf) {
      try {
        const row = (await db.first(text, values, { name, last: isLast })) as FinalRow;
        const [keysJson, , answerJson, revisionsJson] = row;
        if (answer && answerJson !== null) answer.data = answerJson;
        if (revisionsJson !== null) history?.settle(JSON.parse(revisionsJson));
        const keys: Key[] = JSON.parse(keysJson);
        return collection.hasKey ? keys : keys.map((key) => new RowLocation(String(key)) as never);
      } catch (error) {
        if (isRowCountMismatch(error)) throw refusal();
        const about = { action, paramCount: values.length, fieldOfParam: ownerOf };
        throw toWriteError(toInputError(error), collection, about);
      }
    },
  };
}

const ROW_COUNT_MARK = 'rows written: ';

/** What `renderFinalSelect` answers: JSON of the keys; nothing of interest; JSON of the answered row; JSON of `Recorded.places`. */
type FinalRow = readonly [keys: string, complete: string | null, answer: string | null, places: string | null];

/**
 * The end of a statement that writes: the keys of its rows, in order. Unless they are as many as expected, the statement
 * fails, and all it did with it: a cast that cannot be made is the one way to say so in plain SQL.
 */
export const renderFinalSelect = (
  { from, order, places: revisionPlaces }: HistorySql,
  expected?: string,
  answer?: RowAnswer,
): string => {
  // Without an aggregate, which costs more than the rest of this select. Where a key names a second row, in a table that inherits from
  // this one, the key is not a single value, and the statement fails as well.
  if (expected === '1' && revisionPlaces === '') {
    const complete = `case when n.key is null then ('${ROW_COUNT_MARK}0' || coalesce(n.key::text, ''))::int end`;
    const key = `(select c.key from ${from} c)`;
    return ` select json_build_array(${key}), ${complete}, ${answer ? 'n.answer' : 'null'}, null from (values (1)) o left join ${from} n on true`;
  }
  const complete = expected
    ? `case when count(*) = ${expected} then 0 else ('${ROW_COUNT_MARK}' || count(*))::int end`
    : 'null';
  const answered = answer ? `(select n.answer from ${from} n)` : 'null';
  return ` select coalesce(json_agg(n.key${order}), '[]'), ${complete}, ${answered}, ${revisionPlaces || 'null'} from ${from} n`;
};

/** What `renderFinalSelect` answers of the row is a column of `changed`. */
export const renderAnswerColumn = (answer: RowAnswer | undefined): string =>
  answer ? `, ${answer.sql} as answer` : '';

const isRowCountMismatch = (error: unknown): boolean => {
  const { code, message, where } = error as { code?: string; message?: string; where?: string };
  // Of the statement itself: what a trigger does says where it was done.
  if (code === '21000') return where === undefined;
  return code === '22P02' && message?.includes(`"${ROW_COUNT_MARK}`) === true;
};

export const forbiddenRowsFailure = (verb: string, { name }: Collection) =>
  fail('FORBIDDEN', `some of the rows of ${name} may not be ${verb}`);
