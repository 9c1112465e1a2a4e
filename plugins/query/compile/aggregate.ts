import type { Aggregation, FieldReference, GroupProjection, ReadNode } from '../contract.ts';
import { type CompilationState, fieldColumnSql } from './compilation-state.ts';
import { parenthesized, whereClause } from './conjunction.ts';
import { fieldReferenceSql } from './field-use.ts';
import { constantSql, type JsonObjectMember, memberSelectListSql, renderJsonObjectSql } from './json-object.ts';
import { EMPTY_SELECT_LIST, limitSql, readNodeConditionsSql } from './node-clauses.ts';
import { orderByClause } from './order.ts';
import { isNumericField, jsonNumberSql, valueOutputSql } from './output.ts';

type AggregateFn = Aggregation['functions'][number];

/**
 * Renders a read that answers groups instead of rows (conventions, "Aggregation shapes"). The inner select computes, orders and
 * limits the groups; the outer one builds the JSON objects of the answer.
 */
export function groupedReadSql(
  statement: CompilationState,
  read: ReadNode & { readonly aggregate: Aggregation },
  link?: (alias: string) => string,
): string {
  const { groups, functions, order } = read.aggregate;
  const inner = statement.alias();
  const outer = statement.alias();
  const values = [
    ...groups.map(({ use }, at) => `${comparableSql(fieldReferenceSql(statement, inner, use), use)} as g${at}`),
    ...functions.map((one, at) => `${aggregateSql(statement, inner, read, one)} as f${at}`),
  ];
  const where = whereClause([link?.(inner), ...readNodeConditionsSql(statement, inner, read)].map(parenthesized));
  const by = groups.length > 0 ? ` group by ${groups.map((_, at) => at + 1).join(', ')}` : '';
  const terms = order.map(({ of, at, descending }) => ({
    sql: String(of === 'groups' ? at + 1 : groups.length + at + 1),
    descending,
  }));
  const cut = groups.length > 0 ? limitSql(statement, read) : '';
  const from = `select ${values.join(', ')} from ${statement.table(read.collection.table)} ${inner}${where}${by}${orderByClause(terms)}${cut}`;
  const { projections: shown } = read.aggregate;
  const members = shown
    ? projectionMembers(outer, read.aggregate, shown)
    : [...groupMembers(outer, groups), ...functionMembers(outer, functions)];
  return `select ${memberSelectListSql(members) || EMPTY_SELECT_LIST} from (${from}) ${outer}`;
}

const groupMembers = (outer: string, groups: Aggregation['groups']): readonly JsonObjectMember[] =>
  groups.map(({ key, use }, at) => ({
    key,
    sql: use.fn ? `${outer}.g${at}` : valueOutputSql(`${outer}.g${at}`, use.field),
  }));

/** The members of the object of a group, as a selection arranges them instead of side by side. */
const projectionMembers = (
  outer: string,
  aggregate: Aggregation,
  shown: readonly GroupProjection[],
): readonly JsonObjectMember[] => shown.map((one) => ({ key: one.key, sql: projectionSql(outer, aggregate, one) }));

function projectionSql(outer: string, aggregate: Aggregation, one: GroupProjection): string {
  switch (one.kind) {
    case 'constant':
      return constantSql(one.value);
    case 'groups':
      return aggregate.groups.length === 0
        ? 'null::json'
        : renderJsonObjectSql(groupMembers(outer, aggregate.groups), 'x');
    case 'object':
      return renderJsonObjectSql(projectionMembers(outer, aggregate, one.projections), 'x');
    case 'function':
      return resultNumberSql(aggregate.functions[one.at] as AggregateFn, `${outer}.f${one.at}`);
  }
}

/** One object member per aggregate function: a count of rows alone is a number, all else is an object by field. */
function functionMembers(outer: string, functions: Aggregation['functions']): readonly JsonObjectMember[] {
  const names = [...new Set(functions.map(({ name }) => name))];
  return names.map((name) => {
    const calls = functions.flatMap((one, at) => (one.name === name ? [{ one, value: `${outer}.f${at}` }] : []));
    const [first] = calls;
    const isNumberAlone = calls.length === 1 && first?.one.use === null && (name === 'count' || name === 'countAll');
    const members = calls.map(({ one, value }) => ({ key: one.key, sql: resultSql(one, value) }));
    return { key: name, sql: isNumberAlone ? first.value : renderJsonObjectSql(members, 'x') };
  });
}

function aggregateSql(statement: CompilationState, alias: string, read: ReadNode, { name, use }: AggregateFn): string {
  if (!use) {
    const { key } = read.collection;
    return name === 'countDistinct' && key && !key.parts ? `count(distinct ${fieldColumnSql(alias, key)})` : 'count(*)';
  }
  const distinct = name.endsWith('Distinct') ? 'distinct ' : '';
  const value = fieldReferenceSql(statement, alias, use);
  return `${name.replace('Distinct', '')}(${distinct}${distinct ? comparableSql(value, use) : orderableSql(value, use, name)})`;
}

/** Types without an order or equality in PostgreSQL are compared as texts. */
const comparableSql = (value: string, { field, fn }: FieldReference): string =>
  !fn && (field.type === 'json' || field.type === 'unknown' || field.type.startsWith('geometry'))
    ? `${value}::text`
    : value;

const orderableSql = (value: string, { field }: FieldReference, name: string): string =>
  field.type === 'uuid' && (name === 'min' || name === 'max') ? `${value}::text` : value;

/** The result of an aggregate function, as a JSON number when its field is a number. */
function resultNumberSql(one: AggregateFn, value: string): string {
  const { name, use } = one;
  return use && !name.startsWith('count') && isNumericField(use.field)
    ? jsonNumberSql(value, use.field)
    : resultSql(one, value);
}

/** The result of an aggregate function in the format of rows: a text when its field is a 64-bit integer or a decimal. */
function resultSql({ name, use }: AggregateFn, value: string): string {
  if (!use || name.startsWith('count')) return value;
  const { field } = use;
  if (name === 'min' || name === 'max') return field.type === 'uuid' ? value : valueOutputSql(value, field);
  return field.type === 'bigInteger' || field.type === 'decimal' ? `${value}::text` : value;
}
