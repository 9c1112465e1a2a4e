import type { Field } from '../../schema/contract.ts';
import type { Read } from '../contract.ts';
import { groupsSql } from './aggregate.ts';
import { objectOf } from './json-object.ts';
import { orderBy, orderTerms } from './order.ts';
import { pickList } from './picks.ts';
import { searchSql } from './search.ts';
import { columnOf, type Pending, quote, type Statement, tableOf } from './statement.ts';
import { whereClause, whereSql, wrapped } from './where.ts';

/** The row rule, the filter and the search of a node. */
export function conditionsOf(statement: Statement, alias: string, read: Read): readonly (string | undefined)[] {
  return [
    read.rule && whereSql(statement, alias, read.rule),
    whereSql(statement, alias, read.where),
    read.search === null ? undefined : searchSql(statement, alias, read),
  ];
}

/** The object of a row of `rowsSql`. Groups in the form of REST have names that fit, and always some. */
export function rowJson({ pick, aggregate }: Read, alias: string): string {
  if (aggregate && !aggregate.shown) return `row_to_json(${alias}.*)`;
  const members = aggregate?.shown ?? pick;
  return objectOf(
    members.map(({ key }) => key),
    alias,
  );
}

/** The select list of a read that may show nothing. */
export const NOTHING = '1 as "?"';

export const cutOf = (statement: Statement, { limit, offset }: Read): string =>
  `${limit === null ? '' : ` limit ${limit}`}${offset === 0 ? '' : ` offset ${statement.param(offset, 'int8')}`}`;

/**
 * The rows of one node, or its groups. Without relations: one select. With them, rows are chosen, ordered and cut first,
 * and only then joined to what hangs on them, so that a limit of 25 never costs more than 25 look-ups a relation.
 */
export function rowsSql(statement: Statement, read: Read, link?: (alias: string) => string): string {
  if (read.aggregate) return groupsSql(statement, { ...read, aggregate: read.aggregate }, link);
  const inner = statement.alias();
  const joins: string[] = [];
  const keys = read.keys ? keysSource(statement, read, inner) : undefined;
  const order = keys
    ? [{ sql: `${keys.alias}.at`, descending: false }]
    : orderTerms(statement, inner, read.order, joins);
  const conditions = [link?.(inner), ...conditionsOf(statement, inner, read)].map(wrapped);
  const source = keys ? keys.from : `${tableOf(read.collection.table)} ${inner}`;
  const from = ` from ${source}${joins.join('')}${whereClause(conditions)}`;
  const cut = cutOf(statement, read);

  if (read.pick.every(isOfTheRow)) {
    return `select ${pickList(statement, inner, read.pick, []) || NOTHING}${from}${orderBy(order)}${cut}`;
  }
  const outer = statement.alias();
  const mark = markFor(read);
  const marks = order.map((one, at) => ({ sql: `${outer}.${quote(`${mark}${at}`)}`, descending: one.descending }));
  const exported = order.map((one, at) => `, ${one.sql} as ${quote(`${mark}${at}`)}`).join('');
  const related: string[] = [];
  const picks = pickList(statement, outer, read.pick, related);
  return `select ${picks} from (select ${inner}.*${exported}${from}${orderBy(order)}${cut}) ${outer}${related.join('')}${orderBy(marks)}`;
}

/** Does it need nothing but the row? Others are counted once a row, so only for the rows that are answered. */
const isOfTheRow = (pick: Read['pick'][number]): boolean =>
  pick.kind === 'constant' ||
  (pick.kind === 'object' && pick.pick.every(isOfTheRow)) ||
  (pick.kind === 'column' && !(pick.fn?.name === 'count' && pick.fn.to !== undefined));

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
  const { keys } = read;
  const isOpen = keys !== undefined && 'dynamic' in keys;
  const values = statement.param(isOpen ? ({ pending: keys } satisfies Pending) : keys, `${type}[]`);
  return {
    alias: list,
    from: `unnest(${values}) with ordinality ${list}(key, at) join ${tableOf(read.collection.table)} ${alias} on ${columnOf(alias, key)} = ${list}.key`,
  };
}
