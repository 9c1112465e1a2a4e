import type { SqlCondition } from '../../query/contract.ts';
import { fieldColumnListSql, fieldsEqualSql, keyEqualsSql } from '../../query/library.ts';
import type { Field } from '../../schema/contract.ts';
import type { Key, Payload } from '../contract.ts';
import { keySqlType, requireKeyField } from '../find-collection-and-key.ts';
import { keysAfterUpdate } from './row-key.ts';
import {
  columnSql,
  createKeyCondition,
  type KeyCondition,
  keySql,
  rowsPerStatement,
  splitIntoSlices,
  tableSql,
} from './sql.ts';
import { renderParameterCastSql, toSqlParameterValue } from './value-to-sql-parameter.ts';
import { writeRowsLocatingRefusal } from './write-rows-locating-refusal.ts';
import {
  createWriteStatementRunner,
  forbiddenRowsFailure,
  renderWriteResultSelect,
  renderWrittenRowTextColumn,
  type WriteStatementContext,
  type WriteStatementDeps,
  type WriteStatementRunner,
} from './write-statement.ts';

/** The condition on the rows `t` that may be changed; its parameters start at `first`. */
export type BuildRowCondition = (first: number) => SqlCondition;

interface Assignment {
  readonly fields: readonly Field[];
  /** `"title" = $9::text, …`; empty where nothing changes. */
  readonly sets: string;
  /** The values of each row, where they differ: a table `v` with the column `key`. */
  readonly values: string;
}

/** Changes all rows of these keys, or none where one does not match the condition. */
export async function updateRows(
  deps: WriteStatementDeps,
  context: WriteStatementContext,
  keys: readonly Key[],
  payload: Payload,
  conditionAt: BuildRowCondition,
): Promise<Key[]> {
  const { collection } = context;
  // The history matches its records with rows by the key that a row has after the update.
  const keysAfter = keys.length > 1 ? keysAfterUpdate(keys, requireKeyField(collection), payload) : undefined;
  const runner = createWriteStatementRunner(deps, 'update', context, keysAfter);
  const condition = conditionAt(runner.values.length + 2);
  const fields = Object.keys(payload).map((name) => collection.fields.get(name) as Field);
  const rows = createKeyCondition(requireKeyField(collection), keys, runner.values.length + 1);
  const before = runner.values.length + 1 + condition.params.length;
  const values = [
    ...runner.values,
    rows.value,
    ...condition.params,
    ...fields.map((field) => toSqlParameterValue(field, payload, context.paths[0])),
  ];
  const render = () => {
    const sets = fields.map(
      (field, at) => `${columnSql(field)} = ${renderParameterCastSql(field, `$${before + at + 1}`)}`,
    );
    const assignment = { fields, sets: sets.join(', '), values: '' };
    return rows.count === '1' && sets.length > 0 && deps.db.serverVersion >= MIN_VERSION_RETURNING_OLD
      ? renderUpdateOne(runner, context, rows, condition, assignment)
      : renderUpdate(runner, context, rows, condition, assignment);
  };
  const statement = deps.statements(
    collection,
    `${runner.variant} ${rows.count} ${Object.keys(payload).join('\0')} ${condition.text}`,
    render,
  );
  // One payload serves all keys, so an error is about that payload.
  return writeRowsLocatingRefusal({ db: deps.db }, collection, [payload], context.paths, () =>
    runner.run(
      statement,
      values,
      () => forbiddenRowsFailure('updated', collection),
      (param) => fields[param - before - 1],
    ),
  );
}

/** Changes each row by its own values; all rows set the same fields. */
export async function updateEachRow(
  deps: WriteStatementDeps,
  context: WriteStatementContext,
  rows: readonly { readonly key: Key; readonly columns: Payload }[],
  conditionAt: BuildRowCondition,
): Promise<void> {
  const fields = Object.keys(rows[0]?.columns ?? {}).map((name) => context.collection.fields.get(name) as Field);
  let writtenCount = 0;
  for (const { part, isLast: isLastSlice } of splitIntoSlices(rows, rowsPerStatement(fields.length + 2))) {
    const before = writtenCount;
    const isLast = context.isLast && isLastSlice;
    const writeSlice = async (from: number, to: number) => {
      const at = [before + from, before + to] as const;
      const [revisionPlaces, paths] = [context.revisionPlaces?.slice(...at), context.paths.slice(...at)];
      return updateSlice(
        deps,
        { ...context, revisionPlaces, paths, isLast },
        fields,
        part.slice(from, to),
        conditionAt,
      );
    };
    const columns = part.map((row) => row.columns);
    await writeRowsLocatingRefusal(deps, context.collection, columns, context.paths.slice(before), writeSlice);
    writtenCount += part.length;
  }
}

async function updateSlice(
  deps: WriteStatementDeps,
  context: WriteStatementContext,
  fields: readonly Field[],
  rows: readonly { readonly key: Key; readonly columns: Payload }[],
  conditionAt: BuildRowCondition,
) {
  const { collection } = context;
  const key = requireKeyField(collection);
  const keys = rows.map((row) => row.key);
  const runner = createWriteStatementRunner(deps, 'update', context, keys);
  const condition = conditionAt(runner.values.length + 2);
  const found = createKeyCondition(key, keys, runner.values.length + 1);
  const values: unknown[] = [...runner.values, found.value, ...condition.params];
  const fieldOfValue: (Field | undefined)[] = Array(values.length).fill(undefined);
  const param = (value: unknown, owner?: Field) => {
    values.push(value);
    fieldOfValue.push(owner);
    return `$${values.length}`;
  };
  const tuples = rows.map((row, at) => {
    const cells = fields.map((field) =>
      renderParameterCastSql(field, param(toSqlParameterValue(field, row.columns, context.paths[at]), field)),
    );
    return `(${[`${param(row.key)}::${keySqlType(key)}`, ...cells].join(', ')})`;
  });
  const sets = fields.map((field, at) => `${columnSql(field)} = v.c${at}`).join(', ');
  const names = ['key', ...fields.map((_field, at) => `c${at}`)].join(', ');
  const text = renderUpdate(runner, context, found, condition, {
    fields,
    sets,
    values: `(values ${tuples.join(', ')}) v(${names})`,
  });
  return runner.run(
    { text },
    values,
    () => forbiddenRowsFailure('updated', collection),
    (at) => fieldOfValue[at - 1],
  );
}

/** The first version of PostgreSQL whose `returning` has the old row. */
const MIN_VERSION_RETURNING_OLD = 180_000;

/**
 * Renders the update of one row, without reading it first: `returning` has the old row, and a lock alone costs a record
 * in the write-ahead log.
 */
function renderUpdateOne(
  runner: WriteStatementRunner,
  { collection, answer }: WriteStatementContext,
  rows: KeyCondition,
  condition: SqlCondition,
  { fields, sets }: Assignment,
): string {
  const history = runner.historySql(fields);
  const returning = `${keySql(requireKeyField(collection), 't')} as key${history.returning}${renderWrittenRowTextColumn(answer, history)}`;
  const old = history.readsBefore ? 'with (old as b) ' : '';
  const changed = `update ${tableSql(collection)} t set ${sets} where ${rows.sql} and (${condition.text}) returning ${old}${returning}`;
  return `with changed as (${changed})${history.ctes}${renderWriteResultSelect(history, rows.count, answer)}`;
}

/**
 * Renders the update of rows. Where revisions are kept, the rows are read and locked before the change, so that the
 * delta is known. The lock of an update without key changes is enough.
 */
function renderUpdate(
  runner: WriteStatementRunner,
  { collection, answer }: WriteStatementContext,
  rows: KeyCondition,
  condition: SqlCondition,
  { fields, sets, values }: Assignment,
): string {
  const key = requireKeyField(collection);
  const table = tableSql(collection);
  const history = runner.historySql(fields);
  const where = `${rows.sql} and (${condition.text})`;
  const returning = `${keySql(key, 't')} as key${history.returning}${renderWrittenRowTextColumn(answer, history)}`;
  const end = `${history.ctes}${renderWriteResultSelect(history, rows.count, answer)}`;
  // Rows are locked in the order of their keys, so that concurrent updates of the same rows do not deadlock.
  const order = rows.count === '1' ? '' : ` order by ${fieldColumnListSql('t', key).join(', ')}`;
  const locked = `from ${table} t where ${where}${order} for no key update`;
  const keyJoin = values === '' ? [] : [keyEqualsSql('t', key, 'v.key')];
  const same = fieldsEqualSql('b', key, 't', key);
  if (!history.readsBefore) {
    const from = values === '' ? '' : ` from ${values}`;
    const changed =
      sets === ''
        ? `select ${returning} ${locked}`
        : `update ${table} t set ${sets}${from} where ${[...keyJoin, where].join(' and ')} returning ${returning}`;
    return `with changed as (${changed})${end}`;
  }
  const from = ['before b', ...(values === '' ? [] : [values])].join(', ');
  // The condition on one key is repeated, so that the planner finds its row at once.
  const joined = [same, ...keyJoin, ...(rows.count === '1' ? [rows.sql] : [])].join(' and ');
  const changed =
    sets === ''
      ? `select ${returning} from before t join before b on ${same}`
      : `update ${table} t set ${sets} from ${from} where ${joined} returning ${returning}`;
  const read = collection.hasKey ? 't.*' : `t.*, ${fieldColumnListSql('t', key).join(', ')}`;
  return `with before as (select ${read} ${locked}), changed as (${changed})${end}`;
}
