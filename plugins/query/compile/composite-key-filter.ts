import type { ConditionTree } from '../contract.ts';
import { joinWithAnd } from './conjunction.ts';
import { columnsSql, keyEqualsSql, keyInSql } from './key.ts';
import type { StatementBuilder } from './statement.ts';
import { listSql, valueSql } from './values.ts';

/** Renders a filter on a composite key or foreign key, compared column by column, so that PostgreSQL uses indexes. */
export function compositeKeyFilterSql(
  statement: StatementBuilder,
  alias: string,
  where: Extract<ConditionTree, { kind: 'test' }>,
): string {
  const { use, operator, values } = where;
  const { field, when } = use;
  const visible = when && `coalesce((${statement.where(alias, when)}), false)`;
  const filled = columnsSql(alias, field).map((column) => `${column} is not null`);
  const [first = null] = values;
  const equal = () => keyEqualsSql(alias, field, valueSql(statement, field, first));
  const among = () => keyInSql(alias, field, listSql(statement, field, values));
  switch (operator) {
    case '_eq':
      return joinWithAnd([visible, equal()]);
    case '_neq':
      return joinWithAnd([visible, ...filled, `not (${equal()})`]);
    case '_in':
      return joinWithAnd([visible, among()]);
    case '_nin':
      return joinWithAnd([visible, ...filled, `not (${among()})`]);
    default: {
      const isFilled = joinWithAnd([visible, ...filled]);
      return (operator === '_null') === (first === true) ? `not (${isFilled})` : isFilled;
    }
  }
}
