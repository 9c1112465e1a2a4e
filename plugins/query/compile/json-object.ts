import { literal } from '../../database/library.ts';
import { quote } from './statement.ts';

// Objects of an answer are rows of a select: its columns are their members, in this order.

export interface ObjectMember {
  readonly key: string;
  readonly sql: string;
}

/** PostgreSQL cuts longer names of columns, and two that begin alike would be one. */
const MAX_NAME_BYTES = 63;
/** Functions take 100 arguments. */
const MAX_MEMBERS_PER_CALL = 50;

const areColumnNames = (keys: readonly string[]): boolean =>
  keys.every((key) => Buffer.byteLength(key) <= MAX_NAME_BYTES);

/** The select list whose rows `rowObjectSql` makes objects of. */
export function memberListSql(members: readonly ObjectMember[]): string {
  const named = areColumnNames(members.map(({ key }) => key));
  return members.map(({ key, sql }, at) => `${sql} as ${named ? quote(key) : `c${at}`}`).join(', ');
}

/**
 * The object of the row `alias`. A row type without columns has no whole-row value, so there it says so itself. The bare
 * alias could be taken for a column of that name, which any client can make (`alias[r]=id`).
 */
export function rowObjectSql(keys: readonly string[], alias: string): string {
  if (keys.length === 0) return `'{}'::json`;
  if (areColumnNames(keys)) return `row_to_json(${alias}.*)`;
  const calls: string[] = [];
  for (let from = 0; from < keys.length; from += MAX_MEMBERS_PER_CALL) {
    const some = keys.slice(from, from + MAX_MEMBERS_PER_CALL);
    calls.push(`json_build_object(${some.map((key, at) => `${literal(key)}, ${alias}.c${from + at}`).join(', ')})`);
  }
  const [only = '', ...more] = calls;
  // `json` cannot be joined as `jsonb` can, which would put the keys in another order: their texts are, without braces.
  const inner = calls.map((call) => `left(substr(${call}::text, 2), -1)`);
  return more.length === 0 ? only : `('{' || ${inner.join(` || ', ' || `)} || '}')::json`;
}

/** An object by itself, of values that are there already. */
export const objectSql = (members: readonly ObjectMember[], alias: string): string =>
  members.length === 0
    ? rowObjectSql([], alias)
    : `(select ${rowObjectSql(
        members.map(({ key }) => key),
        alias,
      )} from (select ${memberListSql(members)}) ${alias})`;

export const constantSql = (value: string | null): string => `${value === null ? 'null' : literal(value)}::text`;
