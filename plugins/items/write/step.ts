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

const UNRECORDED: Recorded = { returning: '', compares: false, ctes: '', from: 'changed', order: '', places: '' };

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
        const row = (await db.first(text, values, { name, last })) as FinalRow;
        const [made, , written, revisions] = row;
        if (answer && written !== null) answer.data = written;
        if (revisions !== null) bound?.settle(JSON.parse(revisions));
        const keys: Key[] = JSON.parse(made);
        return collection.hasKey ? keys : keys.map((key) => new RowPlace(String(key)) as never);
      } catch (error) {
        if (isIncomplete(error)) throw refusal();
        const about = { action, paramCount: values.length, fieldOfParam: ownerOf };
        throw asWriteError(asInputError(error), collection, about);
      }
    },
  };
}

const MARK = 'rows written: ';

/** What `finalSql` answers: JSON of the keys; nothing of interest; JSON of the answered row; JSON of `Recorded.places`. */
type FinalRow = readonly [keys: string, complete: string | null, answer: string | null, places: string | null];

/**
 * The end of a statement that writes: the keys of its rows, in order. Unless they are as many as expected, the statement
 * fails, and all it did with it: a cast that cannot be made is the one way to say so in plain SQL.
 */
export const finalSql = ({ from, order, places }: Recorded, expected?: string, answer?: RowAnswer): string => {
  // Without an aggregate, which costs more than the rest of this select. Where a key names a second row, in a table that inherits from
  // this one, the key is not a single value, and the statement fails as well.
  if (expected === '1' && places === '') {
    const complete = `case when n.key is null then ('${MARK}0' || coalesce(n.key::text, ''))::int end`;
    const key = `(select c.key from ${from} c)`;
    return ` select json_build_array(${key}), ${complete}, ${answer ? 'n.answer' : 'null'}, null from (values (1)) o left join ${from} n on true`;
  }
  const complete = expected ? `case when count(*) = ${expected} then 0 else ('${MARK}' || count(*))::int end` : 'null';
  const answered = answer ? `(select n.answer from ${from} n)` : 'null';
  return ` select coalesce(json_agg(n.key${order}), '[]'), ${complete}, ${answered}, ${places || 'null'} from ${from} n`;
};

/** What `finalSql` answers of the row is a column of `changed`. */
export const answerColumn = (answer: RowAnswer | undefined): string => (answer ? `, ${answer.sql} as answer` : '');

const isIncomplete = (error: unknown): boolean => {
  const { code, message, where } = error as { code?: string; message?: string; where?: string };
  // Of the statement itself: what a trigger does says where it was done.
  if (code === '21000') return where === undefined;
  return code === '22P02' && message?.includes(`"${MARK}`) === true;
};

export const mayNot = (verb: string, { name }: Collection) =>
  fail('FORBIDDEN', `some of the rows of ${name} may not be ${verb}`);
