import type { Field } from '../../schema/contract.ts';
import type { FilterOperand, FilterOperator } from '../contract.ts';
import { toElementOrBoundField } from '../element-field.ts';
import type { CompilationState } from './compilation-state.ts';
import { callerValueNotNullSql, filterOperandSql, typedValueSql } from './operand-sql.ts';

/** Renders the operators that only range and multirange columns have; undefined for all other operators. */
export function rangeFilterSql(
  statement: CompilationState,
  left: string,
  field: Field,
  operator: FilterOperator,
  values: readonly FilterOperand[],
): string | undefined {
  const [value = null] = values;
  const withCallerPresent = (sql: string) => [sql, ...callerValueNotNullSql(statement, field, value)].join(' and ');
  switch (operator) {
    case '_contains':
      return `${left} @> ${boundSql(statement, field, value)}`;
    case '_ncontains':
      return withCallerPresent(`not (${left} @> ${boundSql(statement, field, value)})`);
    case '_intersects':
      return `${left} && ${filterOperandSql(statement, field, value)}`;
    case '_nintersects':
      return withCallerPresent(`not (${left} && ${filterOperandSql(statement, field, value)})`);
    case '_empty':
    case '_nempty':
      return `${(operator === '_empty') === (value === true) ? '' : 'not '}coalesce(isempty(${left}), true)`;
    default:
      return undefined;
  }
}

/** The operand in the type of the bounds, which `@>` requires. */
const boundSql = (statement: CompilationState, field: Field, value: FilterOperand): string => {
  const bound = toElementOrBoundField(field);
  return typedValueSql(statement, bound.column?.sqlType ?? 'text', value);
};
