import type { Key } from '../contract.ts';
import { requireKeyField } from '../find-collection-and-key.ts';
import { createKeyCondition, keySql, tableSql } from './sql.ts';
import type { BuildRowCondition } from './update.ts';
import {
  createWriteStatementRunner,
  forbiddenRowsFailure,
  renderWriteResultSelect,
  type WriteStatementContext,
  type WriteStatementDeps,
} from './write-statement.ts';

/**
 * Deletes the rows of these keys that match the condition. Returns their keys. For an admin a missing row counts as
 * deleted already; for other callers all rows are deleted or none.
 */
export async function deleteRows(
  deps: WriteStatementDeps,
  context: WriteStatementContext,
  keys: readonly Key[],
  conditionAt: BuildRowCondition,
): Promise<Key[]> {
  const { caller, collection } = context;
  const key = requireKeyField(collection);
  const runner = createWriteStatementRunner(deps, 'delete', context);
  const condition = conditionAt(runner.values.length + 2);
  const rows = createKeyCondition(key, keys, runner.values.length + 1);
  const render = () => {
    const history = runner.historySql();
    const expected = caller.admin ? undefined : rows.count;
    return `with changed as (delete from ${tableSql(collection)} t where ${rows.sql} and (${condition.text}) returning ${keySql(key, 't')} as key${history.returning})${history.ctes}${renderWriteResultSelect(history, expected)}`;
  };
  const statement = deps.statements(
    collection,
    `${runner.variant} ${caller.admin} ${rows.count} ${condition.text}`,
    render,
  );
  const values = [...runner.values, rows.value, ...condition.params];
  return runner.run(statement, values, () => forbiddenRowsFailure('deleted', collection));
}
