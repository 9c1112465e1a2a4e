import type { Aggregation, FieldUse, Read, ShownGroup } from '../contract.ts';
import { whereClause, wrapped } from './conjunction.ts';
import { isNumber, numberSql, shownSql } from './expression.ts';
import { constantSql, type Member, memberList, objectSql } from './json-object.ts';
import { conditionsOf, cutOf, NOTHING } from './node-clauses.ts';
import { operandSql } from './operand.ts';
import { orderBy } from './order.ts';
import { columnOf, type Statement, tableOf } from './statement.ts';

type AggregateFn = Aggregation['functions'][number];

/**
 * Groups in place of rows (conventions, "Aggregation shapes"): computed, ordered and cut in the inner select, named and
 * put together in the outer one.
 */
export function groupsSql(
  statement: Statement,
  read: Read & { readonly aggregate: Aggregation },
  link?: (alias: string) => string,
): string {
  const { groups, functions, order } = read.aggregate;
  const inner = statement.alias();
  const outer = statement.alias();
  const values = [
    ...groups.map(({ use }, at) => `${comparable(operandSql(statement, inner, use), use)} as g${at}`),
    ...functions.map((one, at) => `${computed(statement, inner, read, one)} as f${at}`),
  ];
  const where = whereClause([link?.(inner), ...conditionsOf(statement, inner, read)].map(wrapped));
  const by = groups.length > 0 ? ` group by ${groups.map((_, at) => at + 1).join(', ')}` : '';
  const terms = order.map(({ of, at, descending }) => ({
    sql: String(of === 'groups' ? at + 1 : groups.length + at + 1),
    descending,
  }));
  const cut = groups.length > 0 ? cutOf(statement, read) : '';
  const from = `select ${values.join(', ')} from ${tableOf(read.collection.table)} ${inner}${where}${by}${orderBy(terms)}${cut}`;
  const { shown } = read.aggregate;
  const members = shown
    ? shownMembers(outer, read.aggregate, shown)
    : [...shownGroups(outer, groups), ...shownFunctions(outer, functions)];
  return `select ${memberList(members) || NOTHING} from (${from}) ${outer}`;
}

const shownGroups = (outer: string, groups: Aggregation['groups']): readonly Member[] =>
  groups.map(({ key, use }, at) => ({
    key,
    sql: use.fn ? `${outer}.g${at}` : shownSql(`${outer}.g${at}`, use.field),
  }));

/** What a selection says, in place of groups and functions beside each other. */
const shownMembers = (outer: string, aggregate: Aggregation, shown: readonly ShownGroup[]): readonly Member[] =>
  shown.map((one) => ({ key: one.key, sql: shownMember(outer, aggregate, one) }));

function shownMember(outer: string, aggregate: Aggregation, one: ShownGroup): string {
  switch (one.kind) {
    case 'constant':
      return constantSql(one.value);
    case 'groups':
      return aggregate.groups.length === 0 ? 'null::json' : objectSql(shownGroups(outer, aggregate.groups), 'x');
    case 'object':
      return objectSql(shownMembers(outer, aggregate, one.shown), 'x');
    case 'function':
      return shownNumber(aggregate.functions[one.at] as AggregateFn, `${outer}.f${one.at}`);
  }
}

/** `count` of `*` alone is a number; everything else an object by field. */
function shownFunctions(outer: string, functions: Aggregation['functions']): readonly Member[] {
  const names = [...new Set(functions.map(({ name }) => name))];
  return names.map((name) => {
    const mine = functions.flatMap((one, at) => (one.name === name ? [{ one, value: `${outer}.f${at}` }] : []));
    const [first] = mine;
    const bare = mine.length === 1 && first?.one.use === null && (name === 'count' || name === 'countAll');
    const members = mine.map(({ one, value }) => ({ key: one.key, sql: shownResult(one, value) }));
    return { key: name, sql: bare ? first.value : objectSql(members, 'x') };
  });
}

function computed(statement: Statement, alias: string, read: Read, { name, use }: AggregateFn): string {
  if (!use) {
    const { key } = read.collection;
    return name === 'countDistinct' && key && !key.parts ? `count(distinct ${columnOf(alias, key)})` : 'count(*)';
  }
  const distinct = name.endsWith('Distinct') ? 'distinct ' : '';
  const value = operandSql(statement, alias, use);
  return `${name.replace('Distinct', '')}(${distinct}${distinct ? comparable(value, use) : ordered(value, use, name)})`;
}

/** Types without an order or equality of their own are compared as they read. */
const comparable = (value: string, { field, fn }: FieldUse): string =>
  !fn && (field.type === 'json' || field.type === 'unknown' || field.type.startsWith('geometry'))
    ? `${value}::text`
    : value;

const ordered = (value: string, { field }: FieldUse, name: string): string =>
  field.type === 'uuid' && (name === 'min' || name === 'max') ? `${value}::text` : value;

/** A JSON number where it is a number. */
function shownNumber(one: AggregateFn, value: string): string {
  const { name, use } = one;
  return use && !name.startsWith('count') && isNumber(use.field)
    ? numberSql(value, use.field)
    : shownResult(one, value);
}

/** Exact types stay texts, as they are in rows. */
function shownResult({ name, use }: AggregateFn, value: string): string {
  if (!use || name.startsWith('count')) return value;
  const { field } = use;
  if (name === 'min' || name === 'max') return field.type === 'uuid' ? value : shownSql(value, field);
  return field.type === 'bigInteger' || field.type === 'decimal' ? `${value}::text` : value;
}
