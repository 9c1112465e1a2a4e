import { quoteLiteral } from '../../database/library.ts';
import { quoteIdentifierCached } from './compilation-state.ts';

// A member of a JSON object in an answer. The object is built from a row of a select, whose columns are the members in order.

export interface JsonObjectMember {
  readonly key: string;
  readonly sql: string;
}

/** PostgreSQL truncates longer column names, so that two long names could become equal. */
const MAX_NAME_BYTES = 63;
/** A function of PostgreSQL takes at most 100 arguments, and `json_build_object` takes two for each member. */
const MAX_MEMBERS_PER_CALL = 50;

const areColumnNames = (keys: readonly string[]): boolean =>
  keys.every((key) => Buffer.byteLength(key) <= MAX_NAME_BYTES);

/** The select list for `rowObjectSql`. */
export function memberSelectListSql(members: readonly JsonObjectMember[]): string {
  const named = areColumnNames(members.map(({ key }) => key));
  return members.map(({ key, sql }, at) => `${sql} as ${named ? quoteIdentifierCached(key) : `c${at}`}`).join(', ');
}

/**
 * The JSON object of the row `alias`. A row without columns has no whole-row value, so it is `{}`. The text is `alias.*` because
 * a bare alias could be a column of that name, which clients can create (`alias[r]=id`).
 */
export function rowObjectSql(keys: readonly string[], alias: string): string {
  if (keys.length === 0) return `'{}'::json`;
  if (areColumnNames(keys)) return `row_to_json(${alias}.*)`;
  const calls: string[] = [];
  for (let from = 0; from < keys.length; from += MAX_MEMBERS_PER_CALL) {
    const some = keys.slice(from, from + MAX_MEMBERS_PER_CALL);
    calls.push(
      `json_build_object(${some.map((key, at) => `${quoteLiteral(key)}, ${alias}.c${from + at}`).join(', ')})`,
    );
  }
  const [only = '', ...more] = calls;
  // PostgreSQL concatenates `jsonb` only, which reorders keys: so the texts are concatenated without their braces.
  const inner = calls.map((call) => `left(substr(${call}::text, 2), -1)`);
  return more.length === 0 ? only : `('{' || ${inner.join(` || ', ' || `)} || '}')::json`;
}

/** SQL of a JSON object of computed values. */
export const renderJsonObjectSql = (members: readonly JsonObjectMember[], alias: string): string =>
  members.length === 0
    ? rowObjectSql([], alias)
    : `(select ${rowObjectSql(
        members.map(({ key }) => key),
        alias,
      )} from (select ${memberSelectListSql(members)}) ${alias})`;

export const constantSql = (value: string | null): string => `${value === null ? 'null' : quoteLiteral(value)}::text`;
