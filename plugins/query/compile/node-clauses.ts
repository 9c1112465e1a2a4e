import type { Read } from '../contract.ts';
import { rowObjectSql } from './json-object.ts';
import { searchSql } from './search.ts';
import type { StatementBuilder } from './statement.ts';

// Clauses of a node that are the same whether its rows or groups of them are answered.

/** The row rule, the filter and the search of a node. */
export function conditionsSql(statement: StatementBuilder, alias: string, read: Read): readonly (string | undefined)[] {
  return [
    read.rule && statement.where(alias, read.rule),
    statement.where(alias, read.where),
    read.search === null ? undefined : searchSql(statement, alias, read),
  ];
}

/** The object of a row of `rowsSql`. Groups in the form of REST have names that fit, and always some. */
export function rowJson({ pick, aggregate }: Read, alias: string): string {
  if (aggregate && !aggregate.projections) return `row_to_json(${alias}.*)`;
  const members = aggregate?.projections ?? pick;
  return rowObjectSql(
    members.map(({ key }) => key),
    alias,
  );
}

/** The select list of a read that may show nothing. */
export const EMPTY_SELECT_LIST = '1 as "?"';

export const limitSql = (statement: StatementBuilder, { limit, offset }: Read): string =>
  `${limit === null ? '' : ` limit ${limit}`}${offset === 0 ? '' : ` offset ${statement.param(offset, 'int8')}`}`;
