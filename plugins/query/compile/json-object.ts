import { literal } from '../../database/library.ts';
import { quote } from './statement.ts';

// Objects of an answer are rows of a select: its columns are their members, in this order.

export interface Member {
  readonly key: string;
  readonly sql: string;
}

/** PostgreSQL cuts longer names of columns, and two that begin alike would be one. */
const LONGEST_NAME = 63;
/** Functions take 100 arguments. */
const MOST_IN_ONE_CALL = 50;

const fitsNames = (keys: readonly string[]): boolean => keys.every((key) => Buffer.byteLength(key) <= LONGEST_NAME);

/** The select list whose rows `objectOf` makes objects of. */
export function memberList(members: readonly Member[]): string {
  const named = fitsNames(members.map(({ key }) => key));
  return members.map(({ key, sql }, at) => `${sql} as ${named ? quote(key) : `c${at}`}`).join(', ');
}

/**
 * The object of the row `alias`. A row type without columns has no whole-row value, so there it says so itself. The bare
 * alias could be taken for a column of that name, which any client can make (`alias[r]=id`).
 */
export function objectOf(keys: readonly string[], alias: string): string {
  if (keys.length === 0) return `'{}'::json`;
  if (fitsNames(keys)) return `row_to_json(${alias}.*)`;
  const calls: string[] = [];
  for (let from = 0; from < keys.length; from += MOST_IN_ONE_CALL) {
    const some = keys.slice(from, from + MOST_IN_ONE_CALL);
    calls.push(`json_build_object(${some.map((key, at) => `${literal(key)}, ${alias}.c${from + at}`).join(', ')})`);
  }
  const [only = '', ...more] = calls;
  // `json` cannot be joined as `jsonb` can, which would put the keys in another order: their texts are, without braces.
  const inner = calls.map((call) => `left(substr(${call}::text, 2), -1)`);
  return more.length === 0 ? only : `('{' || ${inner.join(` || ', ' || `)} || '}')::json`;
}

/** An object by itself, of values that are there already. */
export const objectSql = (members: readonly Member[], alias: string): string =>
  members.length === 0
    ? objectOf([], alias)
    : `(select ${objectOf(
        members.map(({ key }) => key),
        alias,
      )} from (select ${memberList(members)}) ${alias})`;

export const constantSql = (value: string | null): string => `${value === null ? 'null' : literal(value)}::text`;
