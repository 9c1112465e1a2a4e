import type { Collection, Field } from '../../schema/contract.ts';
import type { Dynamic, Value } from '../contract.ts';
import { targetField } from '../parse/scope.ts';
import { columnOf, type Pending, type Statement, tableOf } from './statement.ts';

/** For a dynamic operand, the condition that it has a value. */
export const known = (statement: Statement, field: Field, value: Value): readonly string[] =>
  isSubject(value) ? [`${dynamicSql(statement, value, sqlTypeOf(field, null))} is not null`] : [];

const isSubject = (value: Value): value is Extract<Dynamic, { dynamic: 'user' | 'role' }> =>
  typeof value === 'object' && value !== null && (value.dynamic === 'user' || value.dynamic === 'role');

/** The right side of a comparison, as a parameter or as what it stands for when the statement runs. */
export function valueSql(statement: Statement, field: Field, value: Value): string {
  if (typeof value === 'object' && value !== null) return dynamicSql(statement, value, sqlTypeOf(field, null));
  if (field.type.startsWith('geometry')) return geoSql(statement, value);
  return statement.param(value, sqlTypeOf(field, value));
}

export function listSql(statement: Statement, field: Field, values: readonly Value[]): string {
  const plain = values.filter((value) => typeof value !== 'object');
  if (plain.length === values.length) return statement.param(values, `${sqlTypeOf(field, widest(values))}[]`);
  // Each entry a parameter of its own where one of them is known only at run time (or is null).
  return `array[${values.map((value) => valueSql(statement, field, value)).join(', ')}]`;
}

const widest = (values: readonly Value[]): Value => values.find((value) => !isInt8(value)) ?? values[0] ?? null;

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

export function dynamicSql(statement: Statement, value: Dynamic, type: string): string {
  if (value.dynamic === 'now' || value.dynamic === 'key' || !value.via)
    return statement.param({ pending: value } satisfies Pending, type);
  // The row behind $CURRENT_USER.a.b is read inside the same statement, with system rights.
  const [head, ...rest] = value.via.path;
  let alias = statement.alias();
  const start = value.via.start;
  const key = start.fields.get(start.primary ?? 'id') as Field;
  let from = `${tableOf(start.table as { schema: string; name: string })} ${alias}`;
  const where = `${columnOf(alias, key)} = ${statement.param({ pending: { dynamic: value.dynamic } } satisfies Pending, 'uuid')}`;
  let field = head as Field;
  for (const next of rest) {
    const to = statement.overview.collections.get(
      field.relation?.kind === 'one' ? field.relation.to : '',
    ) as Collection;
    const joined = statement.alias();
    from += ` join ${tableOf(to.table as { schema: string; name: string })} ${joined} on ${columnOf(joined, targetField(field, to))} = ${columnOf(alias, field)}`;
    alias = joined;
    field = next;
  }
  return `(select ${columnOf(alias, field)} from ${from} where ${where})::${type}`;
}

export const geoSql = (statement: Statement, value: Value): string =>
  `ST_SetSRID(ST_GeomFromGeoJSON(${statement.param(value, 'text')}), 4326)`;
