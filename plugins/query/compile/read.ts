import type { Field } from '../../schema/contract.ts';
import type { Order, Pick, Read } from '../contract.ts';
import { targetField } from '../parse/scope.ts';
import { isUuid } from '../uuid.ts';
import { escapeLike } from './comparison.ts';
import { readExpression } from './expression.ts';
import { NUMERIC } from './search-terms.ts';
import { columnOf, quote, type Statement, tableOf } from './statement.ts';
import { childrenOf, conjunction, operandSql, whereClause, whereSql } from './where.ts';

type OnePick = Extract<Pick, { kind: 'one' }>;
type ManyPick = Extract<Pick, { kind: 'many' | 'keys' }>;

/**
 * A whole read as one statement with the columns `data` and, where asked for, `meta`, both JSON text.
 *
 *     select '[' || string_agg(row_to_json(r)::text, ',') || ']' as data from (<rows>) r
 */
export function readStatement(statement: Statement, read: Read): string {
  const rows = rowsSql(statement, read);
  const row = `${rowJson(read, 'r')}::text`;
  if (!read.single) {
    const data = `coalesce('[' || string_agg(${row}, ',') || ']', '[]')`;
    return `select ${data} as data${metaColumn(statement, read)} from (${rows}) r`;
  }
  // Without a row there is no data, but there may still be counts to answer.
  if (read.meta.length === 0) return `select ${row} as data from (${rows}) r`;
  return `select (select ${row} from (${rows}) r) as data${metaColumn(statement, read)}`;
}

const metaColumn = (statement: Statement, read: Read): string =>
  read.meta.length > 0 ? `, ${metaSql(statement, read)} as meta` : '';

/**
 * A row type without columns has no whole-row value, so a read that may show nothing says so itself. The bare alias could
 * be taken for a column of that name, which any client can make (`alias[r]=id`).
 */
const rowJson = (read: Read, alias: string): string =>
  read.pick.length === 0 ? `'{}'::json` : `row_to_json(${alias}.*)`;

function metaSql(statement: Statement, read: Read): string {
  const counts = read.meta.map((name) => {
    const alias = statement.alias();
    const conditions =
      name === 'total_count'
        ? [read.rule && whereSql(statement, alias, read.rule)]
        : conditionsOf(statement, alias, read);
    return `'${name}', (select count(*) from ${source(read)} ${alias}${whereClause(conditions.map(wrapped))})`;
  });
  return `json_build_object(${counts.join(', ')})::text`;
}

const source = (read: Read): string => tableOf(read.collection.table as { schema: string; name: string });
const wrapped = (sql: string | undefined) => (sql === undefined || sql === 'true' ? undefined : `(${sql})`);

function conditionsOf(statement: Statement, alias: string, read: Read): readonly (string | undefined)[] {
  return [
    read.rule && whereSql(statement, alias, read.rule),
    whereSql(statement, alias, read.where),
    read.search === null ? undefined : searchSql(statement, alias, read),
  ];
}

/**
 * The rows of one node. Without relations: one select. With them, rows are chosen, ordered and cut first, and only then
 * joined to what hangs on them, so that a limit of 25 never costs more than 25 look-ups a relation.
 */
function rowsSql(statement: Statement, read: Read, link?: (alias: string) => string): string {
  const inner = statement.alias();
  const joins: string[] = [];
  const keys = read.keys ? keysSource(statement, read, inner) : undefined;
  const order = keys ? [{ sql: `${keys.alias}.at`, descending: false }] : orderSql(statement, inner, read.order, joins);
  const conditions = [link?.(inner), ...conditionsOf(statement, inner, read)].map(wrapped);
  const from = ` from ${keys ? keys.from : `${source(read)} ${inner}`}${joins.join('')}${whereClause(conditions)}`;
  const cut = `${read.limit === null ? '' : ` limit ${read.limit}`}${read.offset === 0 ? '' : ` offset ${statement.param(read.offset, 'int8')}`}`;
  const by = (terms: readonly { sql: string; descending: boolean }[]) =>
    terms.length === 0
      ? ''
      : ` order by ${terms.map((one) => `${one.sql}${one.descending ? ' desc' : ''}`).join(', ')}`;

  if (read.pick.every((pick) => pick.kind === 'column')) {
    return `select ${pickList(statement, inner, read.pick, []) || '1 as "?"'}${from}${by(order)}${cut}`;
  }
  const outer = statement.alias();
  const mark = markFor(read);
  const marks = order.map((one, at) => ({ sql: `${outer}.${quote(`${mark}${at}`)}`, descending: one.descending }));
  const exported = order.map((one, at) => `, ${one.sql} as ${quote(`${mark}${at}`)}`).join('');
  const related: string[] = [];
  const picks = pickList(statement, outer, read.pick, related);
  return `select ${picks} from (select ${inner}.*${exported}${from}${by(order)}${cut}) ${outer}${related.join('')}${by(marks)}`;
}

/** The beginning of names that none of the table's own columns has. */
function markFor({ collection }: Read): string {
  let mark = '~';
  for (const { column } of collection.fields.values()) while (column?.name.startsWith(mark)) mark += '~';
  return mark;
}

/** Rows by key come in the order of the keys. */
function keysSource(statement: Statement, read: Read, alias: string): { from: string; alias: string } {
  const key = read.collection.fields.get(read.collection.primary as string) as Field;
  const list = statement.alias();
  // An int8 list is understood by every integer index, whatever its values.
  const type = key.type === 'integer' ? 'int8' : (key.column?.sqlType ?? 'text');
  const values = statement.param(read.keys, `${type}[]`);
  return {
    alias: list,
    from: `unnest(${values}) with ordinality ${list}(key, at) join ${source(read)} ${alias} on ${columnOf(alias, key)} = ${list}.key`,
  };
}

function orderSql(
  statement: Statement,
  alias: string,
  order: readonly Order[],
  joins: string[],
): readonly { sql: string; descending: boolean }[] {
  return order.map((one) => ({ sql: orderValue(statement, alias, one, joins), descending: one.descending }));
}

/** What a row is ordered by. Behind a to-many it is the first of its rows in that order, so that each row counts once. */
function orderValue(statement: Statement, alias: string, { path, use, descending }: Order, joins: string[]): string {
  let at = alias;
  for (const [depth, step] of path.entries()) {
    const joined = statement.alias();
    const rule = wrapped(step.rule && whereSql(statement, joined, step.rule));
    const table = `${tableOf(step.to.table as { schema: string; name: string })} ${joined}`;
    if (step.use.field.relation?.kind === 'many') {
      const children = childrenOf(statement, step.use.field, step.to);
      if (!children) return 'null';
      const below: string[] = [];
      const value = orderValue(statement, joined, { path: path.slice(depth + 1), use, descending }, below);
      const when = wrapped(step.use.when && whereSql(statement, at, step.use.when));
      const where = whereClause([`${joined}.${children.key} = ${at}.${children.parent}`, when, rule]);
      return `(select ${value} from ${table}${below.join('')}${where} order by 1${descending ? ' desc' : ''} limit 1)`;
    }
    const on = [
      `${columnOf(joined, targetField(step.use.field, step.to))} = ${operandSql(statement, at, step.use)}`,
      rule,
    ];
    joins.push(` left join ${table} on ${conjunction(on)}`);
    at = joined;
  }
  return operandSql(statement, at, use);
}

function pickList(statement: Statement, alias: string, picks: readonly Pick[], joins: string[]): string {
  return picks
    .map((pick) => {
      const sql = pickSql(statement, alias, pick, joins);
      const shown = pick.when ? `case when ${whereSql(statement, alias, pick.when)} then ${sql} end` : sql;
      return `${shown} as ${quote(pick.key)}`;
    })
    .join(', ');
}

function pickSql(statement: Statement, alias: string, pick: Pick, joins: string[]): string {
  if (pick.kind === 'column') return readExpression(alias, pick.field);
  return pick.kind === 'one' ? oneSql(statement, alias, pick, joins) : manySql(statement, alias, pick, joins);
}

/**
 * A many-to-one is a plain join, so that the planner may choose how, and its JSON is made from the joined row above all
 * joins. As a lateral sub-select the JSON of whole tables was made before the join, or the table read once a row.
 */
function oneSql(statement: Statement, alias: string, { field, read }: OnePick, joins: string[]): string {
  const joined = statement.alias();
  const key = columnOf(joined, targetField(field, read.collection));
  const on = [`${key} = ${columnOf(alias, field)}`, ...conditionsOf(statement, joined, read).map(wrapped)];
  joins.push(` left join ${source(read)} ${joined} on ${conjunction(on)}`);
  const row = statement.alias();
  const picks = pickList(statement, joined, read.pick, joins);
  const json = read.pick.length === 0 ? `'{}'::json` : `(select row_to_json(${row}.*) from (select ${picks}) ${row})`;
  return `case when ${key} is not null then ${json} end`;
}

function manySql(statement: Statement, alias: string, pick: ManyPick, joins: string[]): string {
  const { read } = pick;
  const lateral = statement.alias();
  const inner = statement.alias();
  const children = childrenOf(statement, pick.field, read.collection);
  if (!children) return `'[]'::json`;
  const rows = rowsSql(statement, read, (row) => `${row}.${children.key} = ${alias}.${children.parent}`);
  const [only] = read.pick;
  const value = pick.kind === 'keys' && only ? `${inner}.${quote(only.key)}` : rowJson(read, inner);
  joins.push(
    ` left join lateral (select coalesce(json_agg(${value}), '[]'::json) as j from (${rows}) ${inner}) ${lateral} on true`,
  );
  return `${lateral}.j`;
}

/** Any of the readable fields: texts contain the term, numbers and UUIDs equal it; with none left, no rows. */
function searchSql(statement: Statement, alias: string, read: Read): string {
  const term = read.search as string;
  const tests = read.searched.flatMap((use) => {
    // Only where it is used: a parameter that stands nowhere in the statement is an error.
    const left = () => operandSql(statement, alias, use);
    switch (use.field.type) {
      case 'uuid':
        return isUuid(term) ? [`${left()} = ${statement.param(term, 'uuid')}`] : [];
      case 'integer':
      case 'bigInteger':
      case 'decimal':
      case 'float':
        return NUMERIC.test(term) ? [`${left()} = ${statement.param(term, 'numeric')}`] : [];
      default:
        return [`${left()}::text ilike ${statement.param(`%${escapeLike(term)}%`, 'text')}`];
    }
  });
  return tests.length === 0 ? 'false' : tests.join(' or ');
}
