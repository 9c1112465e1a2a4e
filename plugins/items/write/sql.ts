import { fail } from '#kernel';
import { quoteIdentifier } from '../../database/library.ts';
import { keyEqualsSql, keyInSql, keyTextSql } from '../../query/library.ts';
import type { Collection, Field } from '../../schema/contract.ts';
import type { Key } from '../contract.ts';
import { keySqlType } from '../find-collection-and-key.ts';

/** PostgreSQL accepts 65,535 parameters in a statement. */
export const MAX_STATEMENT_PARAMETERS = 60_000;
export const MAX_STATEMENT_ROWS = 5_000;

export const tableSql = ({ table }: Collection): string => {
  if (!table) throw fail('FORBIDDEN', 'a folder holds no rows');
  return `${quoteIdentifier(table.schema)}.${quoteIdentifier(table.name)}`;
};

export const columnSql = (field: Field): string => quoteIdentifier((field.column as { name: string }).name);

/** A key as JSON has it: cast to text where the driver or JSON would change it. */
export const keySql = (field: Field, alias: string): string =>
  field.parts
    ? keyTextSql(alias, field.parts)
    : `${alias}.${columnSql(field)}${field.type === 'integer' ? '' : '::text'}`;

/** The rows of these keys, by one parameter. One key is a cheaper condition than a list of one. */
export interface KeyCondition {
  readonly value: unknown;
  /** The condition on the rows `t`. */
  readonly sql: string;
  /** SQL of the expected number of rows. */
  readonly count: string;
}

export function createKeyCondition(key: Field, keys: readonly Key[], param: number): KeyCondition {
  if (keys.length === 1)
    return { value: keys[0], sql: keyEqualsSql('t', key, `$${param}::${keySqlType(key)}`), count: '1' };
  const list = `$${param}::${keySqlType(key)}[]`;
  return { value: keys, sql: keyInSql('t', key, list), count: `cardinality(${list})` };
}

/** How many rows of this many values fit into one statement. */
export const rowsPerStatement = (values: number): number =>
  Math.min(MAX_STATEMENT_ROWS, Math.max(1, Math.floor(MAX_STATEMENT_PARAMETERS / Math.max(1, values))));

export function* splitIntoSlices<T>(
  list: readonly T[],
  size: number,
): Generator<{ part: readonly T[]; isLast: boolean }> {
  for (let from = 0; from < list.length; from += size)
    yield { part: list.slice(from, from + size), isLast: from + size >= list.length };
}
