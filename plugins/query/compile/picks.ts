import { literal } from '../../database/library.ts';
import type { Pick, Read } from '../contract.ts';
import { targetField } from '../parse/scope.ts';
import { shownAs } from './expression.ts';
import { functionSql } from './function.ts';
import { constantSql, type Member, memberList, objectSql } from './json-object.ts';
import { anyLink, childLink } from './links.ts';
import { conditionsOf, rowJson, rowsSql } from './rows.ts';
import { columnOf, quote, type Statement, tableOf } from './statement.ts';
import { conjunction, whereSql, wrapped } from './where.ts';

type Of<K extends Pick['kind']> = Extract<Pick, { kind: K }>;

/** The select list of a node; `joins` gets what stands behind relations. */
export const pickList = (statement: Statement, alias: string, picks: readonly Pick[], joins: string[]): string =>
  memberList(membersOf(statement, alias, picks, joins));

const membersOf = (statement: Statement, alias: string, picks: readonly Pick[], joins: string[]): readonly Member[] =>
  picks.map((pick) => {
    const sql = pickSql(statement, alias, pick, joins);
    const when = 'when' in pick ? pick.when : undefined;
    return { key: pick.key, sql: when ? `case when ${whereSql(statement, alias, when)} then ${sql} end` : sql };
  });

function pickSql(statement: Statement, alias: string, pick: Pick, joins: string[]): string {
  switch (pick.kind) {
    case 'column':
      return columnSql(statement, alias, pick);
    case 'constant':
      return constantSql(pick.value);
    case 'object':
      return objectSql(membersOf(statement, alias, pick.pick, joins), statement.alias());
    case 'one':
      return oneSql(statement, alias, pick, joins);
    case 'any':
      return anySql(statement, alias, pick, joins);
    default:
      return manySql(statement, alias, pick, joins);
  }
}

function columnSql(statement: Statement, alias: string, { field, fn, as }: Of<'column'>): string {
  if (!fn) return shownAs(columnOf(alias, field), field, as);
  return `${functionSql(statement, alias, { field, fn })}${as === 'text' ? '::text' : ''}`;
}

/**
 * A many-to-one is a plain join, so that the planner may choose how, and its JSON is made from the joined row above all
 * joins. As a lateral sub-select the JSON of whole tables was made before the join, or the table read once a row.
 */
function oneSql(statement: Statement, alias: string, { field, read }: Of<'one'>, joins: string[]): string {
  const key = targetField(field, read.collection);
  return joinedRow(
    statement,
    read,
    key.name,
    joins,
    (joined) => `${columnOf(joined, key)} = ${columnOf(alias, field)}`,
  );
}

/** The JSON of the one row of `read` for which `link` holds, or null. */
function joinedRow(
  statement: Statement,
  read: Read,
  keyName: string,
  joins: string[],
  link: (joined: string) => string,
): string {
  const joined = statement.alias();
  const key = columnOf(joined, read.collection.fields.get(keyName) as never);
  const on = [link(joined), ...conditionsOf(statement, joined, read).map(wrapped)];
  joins.push(` left join ${tableOf(read.collection.table)} ${joined} on ${conjunction(on)}`);
  const row = statement.alias();
  const picks = pickList(statement, joined, read.pick, joins);
  const json =
    read.pick.length === 0 ? rowJson(read, row) : `(select ${rowJson(read, row)} from (select ${picks}) ${row})`;
  return `case when ${key} is not null then ${json} end`;
}

/**
 * A many-to-any: a join a collection, of which each row finds at most one. Rows of other collections show their key, or
 * nothing where the pick is strict.
 */
function anySql(statement: Statement, alias: string, { field, by, reads, strict }: Of<'any'>, joins: string[]): string {
  const value = columnOf(alias, field);
  const cases = reads.map((read) => {
    const { name, primary } = read.collection;
    const json = joinedRow(statement, read, primary as string, joins, (joined) =>
      anyLink(joined, read.collection, alias, value, by),
    );
    return `when ${literal(name)} then ${json}`;
  });
  const other = strict ? 'null::json' : `to_json(${value})`;
  return cases.length === 0 ? other : `case ${columnOf(alias, by)} ${cases.join(' ')} else ${other} end`;
}

function manySql(statement: Statement, alias: string, pick: Of<'many' | 'keys'>, joins: string[]): string {
  const { read } = pick;
  const lateral = statement.alias();
  const inner = statement.alias();
  const link = childLink(statement, pick, read.collection);
  if (!link) return `'[]'::json`;
  const rows = rowsSql(statement, read, (row) => link(row, alias));
  const [only] = read.pick;
  const value = pick.kind === 'keys' && only ? `${inner}.${quote(only.key)}` : rowJson(read, inner);
  joins.push(
    ` left join lateral (select coalesce(json_agg(${value}), '[]'::json) as j from (${rows}) ${inner}) ${lateral} on true`,
  );
  return `${lateral}.j`;
}
