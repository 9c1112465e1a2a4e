import type { ConditionTree } from '../contract.ts';
import type { CompilationState } from './compilation-state.ts';
import { joinConditionsWithAnd } from './conjunction.ts';
import { fieldColumnListSql, keyEqualsSql, keyInSql } from './key.ts';
import { filterOperandSql, operandArraySql } from './operand-sql.ts';

/** Renders a filter on a composite key or foreign key, compared column by column, so that PostgreSQL uses indexes. */
export function compositeKeyFilterSql(
  statement: CompilationState,
  alias: string,
  where: Extract<ConditionTree, { kind: 'test' }>,
): string {
  const { use, operator, values } = where;
  const { field, when } = use;
  const visible = when && `coalesce((${statement.where(alias, when)}), false)`;
  const filled = fieldColumnListSql(alias, field).map((column) => `${column} is not null`);
  const [first = null] = values;
  const equal = () => keyEqualsSql(alias, field, filterOperandSql(statement, field, first));
  const among = () => keyInSql(alias, field, operandArraySql(statement, field, values));
  switch (operator) {
    case '_eq':
      return joinConditionsWithAnd([visible, equal()]);
    case '_neq':
      return joinConditionsWithAnd([visible, ...filled, `not (${equal()})`]);
    case '_in':
      return joinConditionsWithAnd([visible, among()]);
    case '_nin':
      return joinConditionsWithAnd([visible, ...filled, `not (${among()})`]);
    default: {
      const isFilled = joinConditionsWithAnd([visible, ...filled]);
      return (operator === '_null') === (first === true) ? `not (${isFilled})` : isFilled;
    }
  }
}
