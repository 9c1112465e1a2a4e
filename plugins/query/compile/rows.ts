import { quoteLiteral } from '../../database/library.ts';
import type { Field } from '../../schema/contract.ts';
import type { Projection, ReadNode } from '../contract.ts';
import { isMatchAll } from '../parse/conjunction.ts';
import { manyToOneTargetField } from '../parse/parse-context.ts';
import { groupedReadSql } from './aggregate.ts';
import {
  type CompilationState,
  fieldColumnSql,
  quoteIdentifierCached,
  type RuntimeParameter,
} from './compilation-state.ts';
import { joinConditionsWithAnd, parenthesized, whereClause } from './conjunction.ts';
import { functionSql } from './function.ts';
import { manyToAnyJoin, toManyJoin } from './joins.ts';
import { constantSql, type JsonObjectMember, memberSelectListSql, renderJsonObjectSql } from './json-object.ts';
import { fieldColumnListSql, keyEqualsSql } from './key.ts';
import { manyToOneJoin } from './many-to-one-join.ts';
import { EMPTY_SELECT_LIST, limitSql, readNodeConditionsSql, rowJsonSql } from './node-clauses.ts';
import { orderByClause, orderTerms } from './order.ts';
import { valueOutputSqlInFormat } from './output.ts';

type ProjectionOf<K extends Projection['kind']> = Extract<Projection, { kind: K }>;

/**
 * Renders the rows or groups of one node. A node without relations is one select. With relations an inner select filters, orders
 * and limits the rows, and the outer one joins the related rows, so that a limit of 25 costs at most 25 look-ups per relation.
 */
export function readNodeSql(statement: CompilationState, read: ReadNode, link?: (alias: string) => string): string {
  if (read.aggregate) return groupedReadSql(statement, { ...read, aggregate: read.aggregate }, link);
  const inner = statement.alias();
  const joins: string[] = [];
  const keys = read.keys ? keysSource(statement, read, inner) : undefined;
  const order = keys
    ? [{ sql: `${keys.alias}.at`, descending: false }]
    : orderTerms(statement, inner, read.order, joins);
  const conditions = [link?.(inner), ...readNodeConditionsSql(statement, inner, read)].map(parenthesized);
  const source = keys?.from ?? (read.rows ? rowsSource(statement, read) : statement.table(read.collection.table));
  const from = ` from ${source}${keys ? '' : ` ${inner}`}${joins.join('')}${whereClause(conditions)}`;
  const cut = limitSql(statement, read);

  if (read.projections.every(isOfRowAlone)) {
    if (!link && order.length > 0 && isLimitedBeforeOutput(read)) {
      const shown = statement.alias();
      const picks = selectList(statement, shown, read.projections, []);
      return `select ${picks} from (select ${inner}.*${from}${orderByClause(order)}${cut}) ${shown}`;
    }
    return `select ${selectList(statement, inner, read.projections, []) || EMPTY_SELECT_LIST}${from}${orderByClause(order)}${cut}`;
  }
  const outer = statement.alias();
  const prefix = orderColumnPrefix(read);
  const orderTermsOuter = order.map((one, at) => ({
    sql: `${outer}.${quoteIdentifierCached(`${prefix}${at}`)}`,
    descending: one.descending,
  }));
  const exported = order.map((one, at) => `, ${one.sql} as ${quoteIdentifierCached(`${prefix}${at}`)}`).join('');
  const related: string[] = [];
  const picks = selectList(statement, outer, read.projections, related);
  return `select ${picks} from (select ${inner}.*${exported}${from}${orderByClause(order)}${cut}) ${outer}${related.join('')}${orderByClause(orderTermsOuter)}`;
}

/**
 * Whether an inner select limits the rows before their values are formatted. PostgreSQL formats before it sorts, for every row that
 * matches. In the order of the key an index finds the first rows anyway.
 */
function isLimitedBeforeOutput({
  collection,
  keys,
  limit,
  order,
  projections: pick,
  rule,
  search,
  where,
}: ReadNode): boolean {
  if (limit === null || keys || !pick.some(isComputed)) return false;
  const [first] = order;
  const isByKey = order.length === 1 && first?.path.length === 0 && first.use.field.name === collection.primary;
  return !isByKey || search !== null || !isMatchAll(where) || !(rule === undefined || isMatchAll(rule));
}

/** Whether the projection is more than the bare column. */
const isComputed = (pick: Projection): boolean =>
  pick.kind === 'object' ||
  (pick.kind === 'column' &&
    (pick.fn !== undefined || pick.when !== undefined || valueOutputSqlInFormat('', pick.field, pick.as) !== ''));

/** Whether the projection needs only the row. Counts of related rows cost a look-up, so they come after the limit. */
const isOfRowAlone = (pick: ReadNode['projections'][number]): boolean =>
  pick.kind === 'constant' ||
  (pick.kind === 'object' && pick.projections.every(isOfRowAlone)) ||
  (pick.kind === 'column' && !(pick.fn?.name === 'count' && pick.fn.to !== undefined));

/** A prefix for the names of order columns that no column of the table begins with. */
function orderColumnPrefix({ collection }: ReadNode): string {
  let prefix = '~';
  for (const { column } of collection.fields.values()) while (column?.name.startsWith(prefix)) prefix += '~';
  return prefix;
}

/** The rows that the caller of the read has, in the type of the table. */
const rowsSource = (statement: CompilationState, { collection, rows }: ReadNode): string =>
  `jsonb_populate_recordset(null::${statement.table(collection.table)}, ${statement.param({ runtimeValue: rows }, 'jsonb')})`;

/** The `from` clause of a read by keys: the rows in the order of the keys. */
function keysSource(statement: CompilationState, read: ReadNode, alias: string): { from: string; alias: string } {
  const key = read.collection.key as Field;
  const list = statement.alias();
  // Every integer index supports an int8 list, also with values out of its range.
  const type = key.type === 'integer' ? 'int8' : (key.column?.sqlType ?? 'text');
  const { keys } = read;
  const isOpen = keys !== undefined && 'dynamic' in keys;
  const values = statement.param(isOpen ? ({ runtimeValue: keys } satisfies RuntimeParameter) : keys, `${type}[]`);
  return {
    alias: list,
    from: `unnest(${values}) with ordinality ${list}(key, at) join ${statement.table(read.collection.table)} ${alias} on ${keyEqualsSql(alias, key, `${list}.key`)}`,
  };
}

/** The select list of a node; appends the joins of relations to `joins`. */
const selectList = (
  statement: CompilationState,
  alias: string,
  picks: readonly Projection[],
  joins: string[],
): string => memberSelectListSql(buildJsonObjectMembers(statement, alias, picks, joins));

/** The members of the JSON object of the row `alias`; appends the joins of relations to `joins`. */
export const buildJsonObjectMembers = (
  statement: CompilationState,
  alias: string,
  picks: readonly Projection[],
  joins: string[],
): readonly JsonObjectMember[] =>
  picks.map((pick) => {
    const sql = projectionSql(statement, alias, pick, joins);
    const when = 'when' in pick ? pick.when : undefined;
    return { key: pick.key, sql: when ? `case when ${statement.where(alias, when)} then ${sql} end` : sql };
  });

function projectionSql(statement: CompilationState, alias: string, pick: Projection, joins: string[]): string {
  switch (pick.kind) {
    case 'column':
      return columnSql(statement, alias, pick);
    case 'constant':
      return constantSql(pick.value);
    case 'object':
      return renderJsonObjectSql(buildJsonObjectMembers(statement, alias, pick.projections, joins), statement.alias());
    case 'one':
      return oneSql(statement, alias, pick, joins);
    case 'any':
      return anySql(statement, alias, pick, joins);
    default:
      return manySql(statement, alias, pick, joins);
  }
}

function columnSql(statement: CompilationState, alias: string, { field, fn, as }: ProjectionOf<'column'>): string {
  if (!fn) return valueOutputSqlInFormat(fieldColumnSql(alias, field), field, as);
  return `${functionSql(statement, alias, { field, fn })}${as === 'text' ? '::text' : ''}`;
}

/**
 * A many-to-one is a plain left join, so that the planner chooses the method, and its JSON is built above all joins. With a lateral
 * sub-select PostgreSQL built the JSON of whole tables before the join, or read the table once per row.
 */
function oneSql(
  statement: CompilationState,
  alias: string,
  { field, read }: ProjectionOf<'one'>,
  joins: string[],
): string {
  const key = manyToOneTargetField(field, read.collection);
  return joinedRow(statement, read, key, joins, (joined) =>
    manyToOneJoin(statement, joined, read.collection, alias, { field }),
  );
}

/** Joins the row of `read` for which `link` holds; answers its JSON, or null without such a row. */
function joinedRow(
  statement: CompilationState,
  read: ReadNode,
  key: Field,
  joins: string[],
  link: (joined: string) => string,
): string {
  const joined = statement.alias();
  const on = [link(joined), ...readNodeConditionsSql(statement, joined, read).map(parenthesized)];
  joins.push(` left join ${statement.table(read.collection.table)} ${joined} on ${joinConditionsWithAnd(on)}`);
  const row = statement.alias();
  const picks = selectList(statement, joined, read.projections, joins);
  const json =
    read.projections.length === 0
      ? rowJsonSql(read, row)
      : `(select ${rowJsonSql(read, row)} from (select ${picks}) ${row})`;
  return `case when ${fieldColumnListSql(joined, key)[0]} is not null then ${json} end`;
}

/**
 * A many-to-any: one join per collection, of which at most one finds a row. Rows of other collections show their key, or null when
 * the projection is strict.
 */
function anySql(
  statement: CompilationState,
  alias: string,
  { field, by, reads, strict }: ProjectionOf<'any'>,
  joins: string[],
): string {
  const value = fieldColumnSql(alias, field);
  const cases = reads.map((read) => {
    const { name, key } = read.collection;
    const json = joinedRow(statement, read, key as Field, joins, (joined) =>
      manyToAnyJoin(joined, read.collection, alias, value, by),
    );
    return `when ${quoteLiteral(name)} then ${json}`;
  });
  const other = strict ? 'null::json' : `to_json(${value})`;
  return cases.length === 0 ? other : `case ${fieldColumnSql(alias, by)} ${cases.join(' ')} else ${other} end`;
}

function manySql(
  statement: CompilationState,
  alias: string,
  pick: ProjectionOf<'many' | 'keys'>,
  joins: string[],
): string {
  const { read } = pick;
  const lateral = statement.alias();
  const inner = statement.alias();
  const link = toManyJoin(statement, pick, read.collection);
  if (!link) return `'[]'::json`;
  const rows = readNodeSql(statement, read, (row) => link(row, alias));
  const [only] = read.projections;
  const value = pick.kind === 'keys' && only ? `${inner}.${quoteIdentifierCached(only.key)}` : rowJsonSql(read, inner);
  joins.push(
    ` left join lateral (select coalesce(json_agg(${value}), '[]'::json) as j from (${rows}) ${inner}) ${lateral} on true`,
  );
  return `${lateral}.j`;
}
