import type { Collection, Field, FieldType } from '../../schema/contract.ts';
import { targetField } from '../parse/scope.ts';
import type { Dynamic, FieldUse, Operator, Value, Where } from '../contract.ts';
import { columnOf, type Pending, quote, type Statement, tableOf } from './statement.ts';

/** A condition over the row `alias`; `true` for one that holds always. */
export function whereSql(statement: Statement, alias: string, where: Where): string {
  switch (where.kind) {
    case 'fixed':
      return String(where.value);
    case 'all':
      return where.of.length === 0 ? 'true' : where.of.map((one) => bracketed(statement, alias, one)).join(' and ');
    case 'either':
      return where.of.length === 0 ? 'true' : where.of.map((one) => bracketed(statement, alias, one)).join(' or ');
    case 'test':
      return testSql(statement, alias, where);
    case 'one':
      return oneSql(statement, alias, where);
    case 'many':
      return manySql(statement, alias, where);
  }
}

const bracketed = (statement: Statement, alias: string, where: Where): string => {
  const sql = whereSql(statement, alias, where);
  return where.kind === 'either' || where.kind === 'all' ? `(${sql})` : sql;
};

/** The conditions joined by `and`, with what holds always left out; empty when nothing is left. */
export const conjunction = (conditions: readonly (string | undefined)[]): string =>
  conditions.filter((one) => one !== undefined && one !== 'true').join(' and ');

export const whereClause = (conditions: readonly (string | undefined)[]): string => {
  const sql = conjunction(conditions);
  return sql === '' ? '' : ` where ${sql}`;
};

/** The left side: the column, or null on rows where the caller may not see it. */
export function operandSql(statement: Statement, alias: string, { field, when }: FieldUse): string {
  const column = columnOf(alias, field);
  return when ? `(case when ${whereSql(statement, alias, when)} then ${column} end)` : column;
}

function oneSql(statement: Statement, alias: string, where: Extract<Where, { kind: 'one' }>): string {
  const { use, to } = where;
  if (!to.table) return 'false';
  const inner = statement.alias();
  const joined = `${columnOf(inner, targetField(use.field, to))} = ${operandSql(statement, alias, use)}`;
  const rule = where.rule ? bracketed(statement, inner, where.rule) : undefined;
  const from = `select 1 from ${tableOf(to.table)} ${inner}`;
  const some = `exists (${from}${whereClause([joined, rule, bracketed(statement, inner, where.where)])})`;
  const ofMissing = ofNulls(statement, where.where);
  if (ofMissing === 'false') return some;
  const missing = conjunction([`not exists (${from}${whereClause([joined, rule])})`, ofMissing]);
  return `(${some} or ${missing})`;
}

/**
 * What this says of a row of nulls, which is what a many-to-one without a readable target counts as: `true`, `false`, or
 * a condition on the caller.
 */
function ofNulls(statement: Statement, where: Where): string {
  switch (where.kind) {
    case 'fixed':
      return String(where.value);
    case 'all': {
      const mark = statement.params.length;
      const parts = where.of.map((one) => ofNulls(statement, one)).filter((one) => one !== 'true');
      if (!parts.includes('false')) return parts.join(' and ') || 'true';
      // A parameter that stands nowhere in the statement is an error.
      statement.params.length = mark;
      return 'false';
    }
    case 'either': {
      const mark = statement.params.length;
      const parts = where.of.map((one) => ofNulls(statement, one)).filter((one) => one !== 'false');
      if (parts.includes('true') || where.of.length === 0) {
        statement.params.length = mark;
        return 'true';
      }
      return parts.length === 0 ? 'false' : `(${parts.join(' or ')})`;
    }
    case 'one':
      return ofNulls(statement, where.where);
    case 'many':
      return where.quantifier === 'none' ? unknowable(statement, where.where).join(' and ') || 'true' : 'false';
    case 'test': {
      const [flag] = where.values;
      if (where.operator === '_null' || where.operator === '_empty') return String(flag === true);
      if (where.operator === '_nnull' || where.operator === '_nempty') return String(flag === false);
      return 'false';
    }
  }
}

function manySql(statement: Statement, alias: string, where: Extract<Where, { kind: 'many' }>): string {
  const { use, to } = where;
  const children = childrenOf(statement, use.field, to);
  if (!children || !to.table) return where.quantifier === 'none' ? 'true' : 'false';
  const inner = statement.alias();
  const joined = `${inner}.${children.key} = ${alias}.${children.parent}`;
  const when = use.when ? bracketed(statement, alias, use.when) : undefined;
  const rule = where.rule ? bracketed(statement, inner, where.rule) : undefined;
  const sql = `exists (select 1 from ${tableOf(to.table)} ${inner}${whereClause([joined, when, rule, bracketed(statement, inner, where.where)])})`;
  if (where.quantifier === 'some') return sql;
  // "None of them is mine" says nothing where there is no "me": what compares with nothing matches no row here either.
  return [`not ${sql}`, ...unknowable(statement, where.where)].join(' and ');
}

/** For a dynamic operand, the condition that it has a value. */
const known = (statement: Statement, field: Field, value: Value): readonly string[] =>
  isSubject(value) ? [`${dynamicSql(statement, value, sqlTypeOf(field, null))} is not null`] : [];

const isSubject = (value: Value): value is Extract<Dynamic, { dynamic: 'user' | 'role' }> =>
  typeof value === 'object' && value !== null && (value.dynamic === 'user' || value.dynamic === 'role');

/** The conditions that the user or role a condition speaks of, at any depth, is there. */
function unknowable(statement: Statement, where: Where): readonly string[] {
  switch (where.kind) {
    case 'fixed':
      return [];
    case 'all':
    case 'either':
      return where.of.flatMap((one) => unknowable(statement, one));
    case 'one':
    case 'many':
      return unknowable(statement, where.where);
    case 'test':
      return where.values.flatMap((value) => known(statement, where.use.field, value));
  }
}

/** The quoted columns that tie a to-many alias to its rows: the children's key and what it points at. */
export function childrenOf(
  statement: Statement,
  field: Field,
  to: Collection,
): { key: string; parent: string } | undefined {
  if (field.relation?.kind !== 'many') return undefined;
  const { relation } = field.relation;
  const key = to.fields.get(relation.field)?.column?.name;
  const owner = statement.overview.collections.get(field.collection);
  const parent =
    relation.schema?.foreign_key_column ?? (owner?.primary ? owner.fields.get(owner.primary)?.column?.name : undefined);
  return key && parent ? { key: quote(key), parent: quote(parent) } : undefined;
}

const COMPARISONS: Partial<Readonly<Record<Operator, string>>> = {
  _eq: '=', _neq: '<>', _lt: '<', _lte: '<=', _gt: '>', _gte: '>=',
};
const PATTERN = /^_(n?)(i?)(contains|starts_with|ends_with)$/;

function testSql(statement: Statement, alias: string, { use, operator, values }: Extract<Where, { kind: 'test' }>): string {
  const { field } = use;
  const left = operandSql(statement, alias, use);
  const [first] = values;
  const comparison = COMPARISONS[operator];
  if (comparison) return `${comparable(left, field)} ${comparison} ${valueSql(statement, field, first ?? null)}`;
  switch (operator) {
    case '_null':
    case '_nnull':
      return `${left} is ${(operator === '_null') === (first === true) ? '' : 'not '}null`;
    case '_empty':
    case '_nempty': {
      const empty = textual(field.type) ? `coalesce(${comparable(left, field)}, '') = ''` : `${left} is null`;
      return (operator === '_empty') === (first === true) ? empty : `not (${empty})`;
    }
    case '_in':
      return `${comparable(left, field)} = any(${listSql(statement, field, values)})`;
    case '_nin':
      return `${comparable(left, field)} <> all(${listSql(statement, field, values)})`;
    case '_between':
    case '_nbetween': {
      const range = `between ${valueSql(statement, field, first ?? null)} and ${valueSql(statement, field, values[1] ?? null)}`;
      if (operator === '_between') return `${comparable(left, field)} ${range}`;
      // One end alone can decide that a value is outside; an end that is nobody's must not.
      return [`${comparable(left, field)} not ${range}`, ...values.flatMap((value) => known(statement, field, value))].join(' and ');
    }
    case '_ieq':
    case '_nieq':
      return `lower(${left}::text) ${operator === '_ieq' ? '=' : '<>'} lower(${valueSql(statement, field, first ?? null)})`;
    case '_intersects':
    case '_nintersects':
      return `${operator === '_nintersects' ? 'not ' : ''}ST_Intersects(${left}, ${geoSql(statement, first ?? null)})`;
    case '_intersects_bbox':
    case '_nintersects_bbox':
      return `${operator === '_nintersects_bbox' ? 'not ' : ''}(${left} && ${geoSql(statement, first ?? null)})`;
  }
  const [, negated, insensitive, form] = PATTERN.exec(operator) ?? [];
  return patternSql(statement, left, first ?? null, form ?? 'contains', Boolean(negated), Boolean(insensitive));
}

/** Wildcards in the operand are plain characters: what was typed is what is looked for. */
function patternSql(statement: Statement, left: string, value: Value, form: string, negated: boolean, insensitive: boolean) {
  const verb = `${negated ? 'not ' : ''}${insensitive ? 'ilike' : 'like'}`;
  const before = form === 'starts_with' ? '' : '%';
  const after = form === 'ends_with' ? '' : '%';
  if (typeof value === 'object' && value !== null) {
    const escaped = `regexp_replace(${dynamicSql(statement, value, 'text')}, '([\\\\%_])', '\\\\\\1', 'g')`;
    return `${left}::text ${verb} '${before}' || ${escaped} || '${after}'`;
  }
  const pattern = value === null ? null : `${before}${escapeLike(String(value))}${after}`;
  return `${left}::text ${verb} ${statement.param(pattern, 'text')}`;
}

export const escapeLike = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

const textual = (type: FieldType): boolean => ['string', 'text', 'csv', 'hash', 'unknown'].includes(type);

/** The left side as a type that the operand can be cast to: enums and exotic types compare as text. */
const comparable = (left: string, field: Field): string =>
  field.column?.enumValues || field.type === 'unknown' ? `${left}::text` : left;

function valueSql(statement: Statement, field: Field, value: Value): string {
  if (typeof value === 'object' && value !== null) return dynamicSql(statement, value, sqlTypeOf(field, null));
  if (field.type.startsWith('geometry')) return geoSql(statement, value);
  return statement.param(value, sqlTypeOf(field, value));
}

function listSql(statement: Statement, field: Field, values: readonly Value[]): string {
  const plain = values.filter((value) => typeof value !== 'object');
  if (plain.length === values.length) return statement.param(values, `${sqlTypeOf(field, widest(values))}[]`);
  // Each entry a parameter of its own where one of them is known only at run time (or is null).
  return `array[${values.map((value) => valueSql(statement, field, value)).join(', ')}]`;
}

const widest = (values: readonly Value[]): Value =>
  values.find((value) => !isInt8(value)) ?? values[0] ?? null;

const isInt8 = (value: Value): boolean => {
  if (typeof value !== 'string' || !/^[+-]?\d{1,19}$/.test(value)) return false;
  const number = BigInt(value);
  return number >= -9_223_372_036_854_775_808n && number <= 9_223_372_036_854_775_807n;
};

/**
 * The type a parameter is cast to. Whole numbers compare as int8, which every integer index understands; one that no
 * integer column can hold, or with a fraction, compares as numeric and simply finds nothing.
 */
function sqlTypeOf(field: Field, value: Value): string {
  switch (field.type) {
    case 'integer':
    case 'bigInteger':
      return value === null || isInt8(value) ? 'int8' : 'numeric';
    case 'decimal':
      return 'numeric';
    case 'float':
      return field.column?.dataType === 'real' ? 'real' : 'float8';
    case 'boolean':
      return 'boolean';
    case 'uuid':
      return 'uuid';
    case 'date':
      return 'date';
    case 'dateTime':
      return 'timestamp';
    case 'timestamp':
      return 'timestamptz';
    case 'time':
      return field.column?.sqlType ?? 'time';
    default:
      return field.column?.sqlType.includes('citext') ? field.column.sqlType : 'text';
  }
}

function dynamicSql(statement: Statement, value: Dynamic, type: string): string {
  if (value.dynamic === 'now' || value.dynamic === 'key' || !value.via) return statement.param({ pending: value } satisfies Pending, type);
  // The row behind $CURRENT_USER.a.b is read inside the same statement, with system rights.
  const [head, ...rest] = value.via.path;
  let alias = statement.alias();
  const start = value.via.start;
  const key = start.fields.get(start.primary ?? 'id') as Field;
  let from = `${tableOf(start.table as { schema: string; name: string })} ${alias}`;
  const where = `${columnOf(alias, key)} = ${statement.param({ pending: { dynamic: value.dynamic } } satisfies Pending, 'uuid')}`;
  let field = head as Field;
  for (const next of rest) {
    const to = statement.overview.collections.get(field.relation?.kind === 'one' ? field.relation.to : '') as Collection;
    const joined = statement.alias();
    from += ` join ${tableOf(to.table as { schema: string; name: string })} ${joined} on ${columnOf(joined, targetField(field, to))} = ${columnOf(alias, field)}`;
    alias = joined;
    field = next;
  }
  return `(select ${columnOf(alias, field)} from ${from} where ${where})::${type}`;
}

const geoSql = (statement: Statement, value: Value): string =>
  `ST_SetSRID(ST_GeomFromGeoJSON(${statement.param(value, 'text')}), 4326)`;
