import type { ConditionTree, ReachableRows } from '../contract.ts';
import { keyColumns } from '../key-columns.ts';
import { type CompilationState, quoteIdentifierCached } from './compilation-state.ts';
import { parenthesized, whereClause } from './conjunction.ts';
import { fieldReferenceSql } from './field-use.ts';
import { manyToAnyJoin, toManyJoin } from './joins.ts';
import { fieldColumnListSql } from './key.ts';
import { manyToOneJoin } from './many-to-one-join.ts';

/**
 * The common table expressions of one statement, each with the keys of the rows that one path of relations leads to. Several
 * conditions of a statement, and paths with the same beginning, use the same ones.
 */
export class ReachableRowTables {
  readonly #names = new Map<ReachableRows, string>();
  readonly #definitions: string[] = [];

  /** The `with` clause; empty without any expression. */
  get clause(): string {
    return this.#definitions.length === 0 ? '' : `with ${this.#definitions.join(', ')} `;
  }

  /** The name of the expression of these rows, which is added where it is missing. */
  nameOf(statement: CompilationState, rows: ReachableRows): string {
    const known = this.#names.get(rows);
    if (known !== undefined) return known;
    const text = this.#selectSql(statement, rows);
    const name = statement.alias();
    this.#names.set(rows, name);
    this.#definitions.push(`${name} as materialized (${text})`);
    return name;
  }

  #selectSql(statement: CompilationState, { collection, where, from }: ReachableRows): string {
    const row = statement.alias();
    const table = `${statement.table(collection.table)} ${row}`;
    const columns = keyColumns(collection).flatMap((field) => fieldColumnListSql(row, field));
    const picks = columns.map((column, at) => `${column} as k${at}`).join(', ');
    if (!from) return `select ${picks} from ${table}${whereClause([statement.where(row, where)].map(parenthesized))}`;
    const before = this.nameOf(statement, from.rows);
    const start = statement.alias();
    const startColumns = keyColumns(from.rows.collection).flatMap((field) => fieldColumnListSql(start, field));
    const isStart = startColumns.map((column, at) => `${column} = ${before}.k${at}`).join(' and ');
    const conditions = [relationSql(statement, row, start, collection, from), statement.where(row, where)];
    // Without `distinct` the rows of a path would multiply with each relation.
    return `select distinct ${picks} from ${before} join ${statement.table(from.rows.collection.table)} ${start} on ${isStart} cross join ${table}${whereClause(conditions.map(parenthesized))}`;
  }
}

/** The condition that the relation leads from the row `start` to the row `row` of `to`. */
function relationSql(
  statement: CompilationState,
  row: string,
  start: string,
  to: ReachableRows['collection'],
  { use, by }: NonNullable<ReachableRows['from']>,
): string {
  const kind = use.field.relation?.kind;
  if (kind === 'one') return manyToOneJoin(statement, row, to, start, use);
  if (kind === 'any') return by ? manyToAnyJoin(row, to, start, fieldReferenceSql(statement, start, use), by) : 'false';
  const link = toManyJoin(statement, use, to);
  if (!link) return 'false';
  return use.when ? `(${statement.where(start, use.when)}) and ${link(row, start)}` : link(row, start);
}

/** The condition that the row `alias` is one of the reachable rows, by its key. */
export function reachableSql(
  statement: CompilationState,
  alias: string,
  { of }: Extract<ConditionTree, { kind: 'reachable' }>,
): string {
  const [first] = of;
  if (!first) return 'false';
  const columns = keyColumns(first.collection).flatMap((field) => fieldColumnListSql(alias, field));
  // A condition that stands in the statement of another plugin has its expressions beside it.
  const tables = statement.reachableRowTables ?? new ReachableRowTables();
  const names = of.map((rows) => tables.nameOf(statement, rows));
  const picks = columns.map((_column, at) => quoteIdentifierCached(`k${at}`)).join(', ');
  const selects = names.map((name) => `select ${picks} from ${name}`).join(' union all ');
  const beside = statement.reachableRowTables ? '' : tables.clause;
  return `(${columns.join(', ')}) in (${beside}${selects})`;
}
