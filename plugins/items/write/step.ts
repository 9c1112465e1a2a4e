import { type Caller, type Failure, fail } from '#kernel';
import type { Place, Recorded, Step } from '../../activity/contract.ts';
import { keptExpression } from '../../query/library.ts';
import type { Collection, Field } from '../../schema/contract.ts';
import type { Key } from '../contract.ts';
import type { Deps } from '../deps.ts';
import { RowPlace } from '../row-place.ts';
import { asWriteError } from './database-errors.ts';
import { asInputError } from './input-error.ts';
import type { RowPath } from './row-path.ts';

export type StepDeps = Pick<Deps, 'db' | 'activity' | 'shapes' | 'isReplay'>;

/** Whose rows a statement writes, and how it stands to the rest of the unit of work. */
export interface Writing {
  readonly caller: Caller;
  readonly collection: Collection;
  /** One for each row, in a nested write of rows that have revisions. */
  readonly places?: readonly Place[];
  /** One for each row. */
  readonly paths: readonly RowPath[];
  /** Rows written later are part of these. */
  readonly isAround: boolean;
  /** Nothing follows in the unit of work. */
  readonly last: boolean;
  /** Of the one row that is written. */
  readonly answer?: RowAnswer | undefined;
}

/** JSON text of the row `t` as it is written: its SQL, and what the statement answered. */
export interface RowAnswer {
  readonly sql: string;
  data?: string;
}

/** One statement being made. */
export interface Open {
  /** Who asks and where the rows stand; the statement's own parameters come after them. */
  readonly values: readonly unknown[];
  /** What the text depends on beside the columns. */
  readonly variant: string;
  /** `sets`: the fields an update sets. */
  recorded(sets?: readonly Field[]): Recorded;
  /** Runs it and answers the keys of the rows. `ownerOf` tells which field a parameter, counted from 1, is a value of. */
  run(
    shape: { readonly text: string; readonly name?: string },
    values: readonly unknown[],
    refusal: () => Failure,
    ownerOf?: (param: number) => Field | undefined,
  ): Promise<Key[]>;
}

const UNRECORDED: Recorded = { returning: '', ctes: '', from: 'changed', order: '', columns: '' };

/** `keys` where the statement finds several rows by their keys. */
export function openStep(
  { db, activity }: StepDeps,
  action: Step['action'],
  { caller, collection, places, isAround, last, answer }: Writing,
  keys?: readonly Key[],
): Open {
  const kept = activity.kept(collection);
  const placed =
    places && kept === 'all' && action !== 'delete' ? { rows: places, ...(keys ? { keys } : {}) } : undefined;
  const bound = kept ? activity.bind(caller, placed) : undefined;
  const nested = placed && (keys ? 'by key' : 'in order');
  return {
    values: bound?.values ?? [],
    variant: `${action} ${nested} ${isAround} ${answer?.sql}`,
    recorded: (sets) =>
      kept
        ? activity.recorded({ action, collection, sets, expression: keptExpression, first: 1, nested, isAround })
        : UNRECORDED,
    async run({ text, name }, values, refusal, ownerOf) {
      try {
        const [made, written] = (await db.first(text, values, { name, last })) as [string, string | undefined];
        if (answer && written !== undefined) answer.data = written;
        const row: { readonly keys: Key[]; readonly [other: string]: unknown } = JSON.parse(made);
        bound?.settle(row);
        return collection.hasKey ? row.keys : row.keys.map((key) => new RowPlace(String(key)) as never);
      } catch (error) {
        if (isIncomplete(error)) throw refusal();
        const about = { action, paramCount: values.length, fieldOfParam: ownerOf };
        throw asWriteError(asInputError(error), collection, about);
      }
    },
  };
}

const MARK = 'rows written: ';

/**
 * The end of a statement that writes: the keys of its rows, in order. Unless they are as many as expected, the statement
 * fails, and all it did with it: a cast that cannot be made is the one way to say so in plain SQL.
 */
export const finalSql = ({ from, order, columns }: Recorded, expected?: string, answer?: RowAnswer): string => {
  const complete = expected
    ? `, case when count(*) = ${expected} then 0 else ('${MARK}' || count(*))::int end as complete`
    : '';
  const row = `select coalesce(json_agg(n.key${order}), '[]') as keys${complete}${columns} from ${from} n`;
  const answered = answer ? `, (select n.answer from ${from} n) as answer` : '';
  return ` select row_to_json(x.*)${answered} from (${row}) x`;
};

/** What `finalSql` answers of the row is a column of `changed`. */
export const answerColumn = (answer: RowAnswer | undefined): string => (answer ? `, ${answer.sql} as answer` : '');

const isIncomplete = (error: unknown): boolean => {
  const { code, message } = error as { code?: string; message?: string };
  return code === '22P02' && message?.includes(`"${MARK}`) === true;
};

export const mayNot = (verb: string, { name }: Collection) =>
  fail('FORBIDDEN', `some of the rows of ${name} may not be ${verb}`);
