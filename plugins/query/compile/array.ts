import type { Field } from '../../schema/contract.ts';
import type { FilterOperand, FilterOperator } from '../contract.ts';
import { isSortableUnknownTypeField, toElementOrBoundField } from '../element-field.ts';
import type { CompilationState } from './compilation-state.ts';
import { callerValueNotNullSql, operandArraySql } from './operand-sql.ts';

/**
 * A condition on an array column. A GIN index supports `&&` and `@>` on the bare column, so the column is cast only when its elements
 * have no equality in PostgreSQL.
 */
export function arrayFilterSql(
  statement: CompilationState,
  left: string,
  field: Field,
  operator: FilterOperator,
  values: readonly FilterOperand[],
): string {
  const { array, type } = comparableArray(left, field);
  const list = () => {
    const sql = operandArraySql(statement, toElementOrBoundField(field), values, type);
    return sql.includes(' || ') ? `(${sql})` : sql;
  };
  // Without a user or role the values of `$CURRENT_…` are null, and neither a negation nor `_has_all` may match.
  const withCallerPresent = (sql: string) =>
    [sql, ...values.flatMap((value) => callerValueNotNullSql(statement, field, value))].join(' and ');
  switch (operator) {
    case '_null':
    case '_nnull':
      return `${left} is ${(operator === '_null') === (values[0] === true) ? '' : 'not '}null`;
    case '_empty':
    case '_nempty':
      return `coalesce(cardinality(${left}), 0) ${(operator === '_empty') === (values[0] === true) ? '=' : '>'} 0`;
    case '_eq':
      return `${array} = ${list()}`;
    case '_neq':
      return withCallerPresent(`${array} <> ${list()}`);
    case '_in':
    case '_has_any':
      return `${array} && ${list()}`;
    case '_nin':
      return withCallerPresent(`not (${array} && ${list()})`);
    case '_contains':
      return `${array} @> ${list()}`;
    case '_has_all':
      return withCallerPresent(`${array} @> ${list()}`);
    case '_ncontains':
      return withCallerPresent(`not (${array} @> ${list()})`);
    default:
      throw new Error(`${operator} is not an operator of arrays`);
  }
}

/** Elements without an equality in PostgreSQL are compared as texts. */
function comparableArray(left: string, field: Field): { readonly array: string; readonly type: string } {
  const element = toElementOrBoundField(field);
  const { sqlType = 'text', dataType } = element.column ?? {};
  if (element.type === 'json' && dataType === 'json') return { array: `${left}::jsonb[]`, type: 'jsonb' };
  if (element.type.startsWith('geometry') || (element.type === 'unknown' && !isSortableUnknownTypeField(element)))
    return { array: `${left}::text[]`, type: 'text' };
  return { array: left, type: sqlType };
}
