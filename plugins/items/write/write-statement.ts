import { type Caller, type Failure, fail } from '#kernel';
import type { HistoryRecordedStatement, HistorySql, RowAndParentRevision } from '../../activity/contract.ts';
import { fieldRevisionOutputSql } from '../../query/library.ts';
import type { Collection, Field } from '../../schema/contract.ts';
import type { Key } from '../contract.ts';
import type { ItemsEngineDeps } from '../deps.ts';
import { PhysicalRowLocation } from '../physical-row-location.ts';
import { translatePostgresWriteError } from './database-errors.ts';
import { withInvalidTextErrorCode } from './input-error-code.ts';
import type { RequestRowPath } from './row-path.ts';

export type WriteStatementDeps = Pick<ItemsEngineDeps, 'db' | 'activity' | 'statements' | 'isReplay'>;

/** The rows that a statement writes, and its place in the unit of work. */
export interface WriteStatementContext {
  readonly caller: Caller;
  readonly collection: Collection;
  /** The revisions of the rows, one for each row, in a nested write of rows with revisions. */
  readonly revisionPlaces?: readonly RowAndParentRevision[];
  /** The paths of the rows in the request, one for each row. */
  readonly paths: readonly RequestRowPath[];
  /** The rows have nested rows, which are written later. */
  readonly hasNestedRows: boolean;
  /** The last statement of the unit of work. */
  readonly isLast: boolean;
  /** What the statement answers of its rows. */
  readonly answer?: WrittenRowTextSlot | undefined;
}

/** The SQL of the JSON text of a written row `t`, and the text itself once the statement has run: of a list where `isList`. */
export interface WrittenRowTextSlot {
  readonly sql: string;
  readonly isList?: boolean;
  /** The text is not made where the write has nested rows. */
  readonly isForSingleRows?: boolean;
  data?: string;
}

/** Builds and runs one writing statement, together with the history of its rows. */
export interface WriteStatementRunner {
  /** The parameters of the history; the statement's own parameters follow them. */
  readonly values: readonly unknown[];
  /** Everything but the columns that the text of the statement depends on, as a cache key. */
  readonly variant: string;
  /** `sets`: the fields that an update sets. */
  historySql(sets?: readonly Field[]): HistorySql;
  /**
   * Runs the statement and returns the keys of the rows. `ownerOf` returns the field of a parameter, counted from 1.
   */
  run(
    shape: { readonly text: string; readonly name?: string },
    values: readonly unknown[],
    refusal: () => Failure,
    ownerOf?: (param: number) => Field | undefined,
  ): Promise<Key[]>;
}

const NO_HISTORY: HistorySql = { returning: '', readsBefore: false, ctes: '', from: 'changed', order: '', places: '' };

/** `keys`: passed where the statement finds several rows by their keys. */
export function createWriteStatementRunner(
  { db, activity }: WriteStatementDeps,
  action: HistoryRecordedStatement['action'],
  { caller, collection, revisionPlaces, hasNestedRows, isLast, answer }: WriteStatementContext,
  keys?: readonly Key[],
): WriteStatementRunner {
  const level = activity.historyLevel(collection);
  const historyPlaces =
    revisionPlaces && level === 'all' && action !== 'delete'
      ? { rows: revisionPlaces, ...(keys ? { keys } : {}) }
      : undefined;
  const history = level ? activity.bindHistory(caller, historyPlaces) : undefined;
  const nested = historyPlaces && (keys ? 'by key' : 'in order');
  return {
    values: history?.values ?? [],
    variant: `${action} ${nested} ${hasNestedRows} ${answer?.isList} ${answer?.sql}`,
    historySql: (sets) =>
      level
        ? activity.historySql({
            action,
            collection,
            sets,
            expression: fieldRevisionOutputSql,
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
        return collection.hasKey ? keys : keys.map((key) => new PhysicalRowLocation(String(key)) as never);
      } catch (error) {
        if (isRowCountMismatch(error)) throw refusal();
        const statementFields = { action, paramCount: values.length, fieldOfParam: ownerOf };
        throw translatePostgresWriteError(withInvalidTextErrorCode(error), collection, statementFields);
      }
    },
  };
}

const ROW_COUNT_MARK = 'rows written: ';

/**
 * The columns of `renderWriteResultSelect`: JSON of the keys; a check without a value; JSON of the answered row; JSON of
 * `HistorySql.places`.
 */
type FinalRow = readonly [keys: string, complete: string | null, answer: string | null, places: string | null];

/**
 * The final select of a writing statement: the keys of its rows, in order. Another number of rows than expected fails
 * the statement and undoes it: an invalid cast is the only way to do that in plain SQL.
 */
export const renderWriteResultSelect = (
  history: HistorySql,
  expected?: string,
  answer?: WrittenRowTextSlot,
): string => {
  const { from, order, places: revisionPlaces } = history;
  // Without an aggregate, which costs more than the rest of this select. A key with a second row, in a table that
  // inherits from this one, is not a single value and fails the statement as well.
  const text = answer && repeatsRevision(answer, history) ? 'n.data::text' : 'n.answer';
  if (expected === '1' && revisionPlaces === '') {
    const complete = `case when n.key is null then ('${ROW_COUNT_MARK}0' || coalesce(n.key::text, ''))::int end`;
    const key = `(select c.key from ${from} c)`;
    const answered = answer?.isList ? `'[' || ${text} || ']'` : answer ? text : 'null';
    return ` select json_build_array(${key}), ${complete}, ${answered}, null from (values (1)) o left join ${from} n on true`;
  }
  const complete = expected
    ? `case when count(*) = ${expected} then 0 else ('${ROW_COUNT_MARK}' || count(*))::int end`
    : 'null';
  const list = `'[' || string_agg(${text}, ','${order}) || ']'`;
  const answered = answer?.isList ? list : answer ? `(select ${text} from ${from} n)` : 'null';
  return ` select coalesce(json_agg(n.key${order}), '[]'), ${complete}, ${answered}, ${revisionPlaces || 'null'} from ${from} n`;
};

/** SQL of the column of `changed` with the row's JSON text, which `renderWriteResultSelect` answers; empty where `data` is the same. */
export const renderWrittenRowTextColumn = (answer: WrittenRowTextSlot | undefined, history: HistorySql): string =>
  answer && !repeatsRevision(answer, history) ? `, ${answer.sql} as answer` : '';

/** Whether the answer is what the revision holds, as that of a whole row is, so that PostgreSQL makes it once. */
const repeatsRevision = ({ sql }: WrittenRowTextSlot, { data }: HistorySql): boolean => sql === `${data}::text`;

const isRowCountMismatch = (error: unknown): boolean => {
  const { code, message, where } = error as { code?: string; message?: string; where?: string };
  // Only an error of the statement itself counts; the error of a trigger has a context.
  if (code === '21000') return where === undefined;
  return code === '22P02' && message?.includes(`"${ROW_COUNT_MARK}`) === true;
};

export const forbiddenRowsFailure = (verb: string, { name }: Collection) =>
  fail('FORBIDDEN', `some of the rows of ${name} may not be ${verb}`);
