import { keyField } from '../collection-target.ts';
import type { Key } from '../contract.ts';
import { createKeyCondition, keySql, tableSql } from './sql.ts';
import type { ConditionAt } from './update.ts';
import {
  forbiddenRowsFailure,
  openStatement,
  renderFinalSelect,
  type StatementDeps,
  type WriteStatement,
} from './write-statement.ts';

/**
 * Deletes the rows of these keys that match the condition. Returns their keys. For an admin a missing row counts as
 * deleted already; for other callers all rows are deleted or none.
 */
export async function deleteRows(
  deps: StatementDeps,
  writing: WriteStatement,
  keys: readonly Key[],
  conditionAt: ConditionAt,
): Promise<Key[]> {
  const { caller, collection } = writing;
  const key = keyField(collection);
  const step = openStatement(deps, 'delete', writing);
  const condition = conditionAt(step.values.length + 2);
  const rows = createKeyCondition(key, keys, step.values.length + 1);
  const render = () => {
    const history = step.historySql();
    const expected = caller.admin ? undefined : rows.count;
    return `with changed as (delete from ${tableSql(collection)} t where ${rows.sql} and (${condition.text}) returning ${keySql(key, 't')} as key${history.returning})${history.ctes}${renderFinalSelect(history, expected)}`;
  };
  const statement = deps.statements(
    collection,
    `${step.variant} ${caller.admin} ${rows.count} ${condition.text}`,
    render,
  );
  const values = [...step.values, rows.value, ...condition.params];
  return step.run(statement, values, () => forbiddenRowsFailure('deleted', collection));
}
