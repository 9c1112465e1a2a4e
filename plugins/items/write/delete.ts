import type { Key } from '../contract.ts';
import { keyField } from '../target.ts';
import { keySql, selected, tableOf } from './sql.ts';
import { finalSql, mayNot, openStep, type StepDeps, type Writing } from './step.ts';
import type { ConditionAt } from './update.ts';

/**
 * Deletes the rows of these keys that the condition admits and answers their keys. Nothing hides from an admin, so a row
 * that is not there is simply gone already; for others all of them are deleted or none.
 */
export async function deleteRows(
  deps: StepDeps,
  writing: Writing,
  keys: readonly Key[],
  conditionAt: ConditionAt,
): Promise<Key[]> {
  const { caller, collection } = writing;
  const key = keyField(collection);
  const step = openStep(deps, 'delete', writing);
  const condition = conditionAt(step.values.length + 2);
  const rows = selected(key, keys, step.values.length + 1);
  const write = () => {
    const recorded = step.recorded();
    const expected = caller.admin ? undefined : rows.count;
    return `with changed as (delete from ${tableOf(collection)} t where ${rows.sql} and (${condition.text}) returning ${keySql(key, 't')} as key${recorded.returning})${recorded.ctes}${finalSql(recorded, expected)}`;
  };
  const shape = deps.shapes(collection, `${step.variant} ${caller.admin} ${rows.count} ${condition.text}`, write);
  const values = [...step.values, rows.value, ...condition.params];
  return step.run(shape, values, () => mayNot('deleted', collection));
}
