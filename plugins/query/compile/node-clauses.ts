import type { ReadNode } from '../contract.ts';
import type { CompilationState } from './compilation-state.ts';
import { rowObjectSql } from './json-object.ts';
import { searchSql } from './search.ts';

// Clauses that reads of rows and of groups have in common.

/** The row rule, the filter and the search of a node, as SQL conditions. */
export function readNodeConditionsSql(
  statement: CompilationState,
  alias: string,
  read: ReadNode,
): readonly (string | undefined)[] {
  return [
    read.rule && statement.where(alias, read.rule),
    statement.where(alias, read.where),
    read.search === null ? undefined : searchSql(statement, alias, read),
  ];
}

/**
 * SQL of the JSON object of a row that `readNodeSql` selects. REST groups always have members, with names that fit into column names.
 */
export function rowJsonSql({ projections: pick, aggregate }: ReadNode, alias: string): string {
  if (aggregate && !aggregate.projections) return `row_to_json(${alias}.*)`;
  const members = aggregate?.projections ?? pick;
  return rowObjectSql(
    members.map(({ key }) => key),
    alias,
  );
}

/** The select list of a read without projections. */
export const EMPTY_SELECT_LIST = '1 as "?"';

export const limitSql = (statement: CompilationState, { limit, offset }: ReadNode): string =>
  `${limit === null ? '' : ` limit ${limit}`}${offset === 0 ? '' : ` offset ${statement.param(offset, 'int8')}`}`;
