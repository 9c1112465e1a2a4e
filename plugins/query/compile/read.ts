import type { Projection, ReadNode } from '../contract.ts';
import { keyProjections } from '../key-columns.ts';
import type { CompilationState } from './compilation-state.ts';
import { parenthesized, whereClause } from './conjunction.ts';
import { readNodeConditionsSql, rowJsonSql } from './node-clauses.ts';
import { ReachableRowTables } from './reachable.ts';
import { readNodeSql } from './rows.ts';

/**
 * A whole read as one statement with the columns `data` and, when the query has `meta`, `meta`. Both are JSON texts.
 *
 *     select '[' || string_agg(row_to_json(r)::text, ',') || ']' as data from (<rows>) r
 */
export const compileReadStatement = (statement: CompilationState, read: ReadNode): string =>
  withReachableRows(statement, () => readStatementSql(statement, read));

function readStatementSql(statement: CompilationState, read: ReadNode): string {
  const rows = readNodeSql(statement, read);
  const row = `${rowJsonSql(read, 'r')}::text`;
  if (!read.single) {
    const data = `coalesce('[' || string_agg(${row}, ',') || ']', '[]')`;
    return `select ${data} as data${metaColumn(statement, read)} from (${rows}) r`;
  }
  // Without a row `data` is null, but the statement still answers the counts.
  if (read.meta.length === 0) return `select ${row} as data from (${rows}) r`;
  return `select (select ${row} from (${rows}) r) as data${metaColumn(statement, read)}`;
}

/**
 * A whole read as one statement for a cursor: one record per row, with the one column `row`. The counts are the first record,
 * since PostgreSQL runs the branches of `union all` in order.
 */
export const compileCursorStatement = (statement: CompilationState, read: ReadNode): string =>
  withReachableRows(statement, () => {
    const meta = read.meta.length > 0 ? `select ${metaSql(statement, read)} as row union all ` : '';
    return `${meta}select ${rowJsonSql(read, 'r')}::text as row from (${readNodeSql(statement, read)}) r`;
  });

/**
 * A list as one statement with a record per row: its key as answers show it, and its object, both as JSON texts. The object is a member
 * beside the key, so that relations are joined as in any other read.
 */
export const compileKeyedStatement = (statement: CompilationState, read: ReadNode): string =>
  withReachableRows(statement, () => {
    const [key] = keyProjections(read.collection);
    if (!key) throw new Error(`rows of ${read.collection.name} have no key`);
    const row: Projection = { kind: 'object', key: 'row', projections: read.projections };
    const rows = readNodeSql(statement, { ...read, projections: [{ ...key, key: 'key' }, row] });
    return `select to_json(r.key)::text as key, r.row::text as row from (${rows}) r`;
  });

/** Puts the `with` clause of the permissions of a share before the statement; other statements have none. */
function withReachableRows(statement: CompilationState, compile: () => string): string {
  const tables = new ReachableRowTables();
  statement.reachableRowTables = tables;
  const text = compile();
  return `${tables.clause}${text}`;
}

const metaColumn = (statement: CompilationState, read: ReadNode): string =>
  read.meta.length > 0 ? `, ${metaSql(statement, read)} as meta` : '';

/**
 * SQL of `total_count` and `filter_count`, which count rows also when the answer has groups (conventions, "Aggregation shapes").
 */
function metaSql(statement: CompilationState, read: ReadNode): string {
  const counts = read.meta.map((name) => {
    const alias = statement.alias();
    const conditions =
      name === 'total_count'
        ? [read.rule && statement.where(alias, read.rule)]
        : readNodeConditionsSql(statement, alias, read);
    const from = `${statement.table(read.collection.table)} ${alias}`;
    return `'${name}', (select count(*) from ${from}${whereClause(conditions.map(parenthesized))})`;
  });
  return `json_build_object(${counts.join(', ')})::text`;
}
