import { fail } from '#kernel';
import type { Collection, Field } from '../../schema/contract.ts';
import type { Key, Payload } from '../contract.ts';
import { requireKeyField } from '../find-collection-and-key.ts';
import { columnSql, keySql, rowsPerStatement, splitIntoSlices, tableSql } from './sql.ts';
import { renderParameterCastSql, toSqlParameterValue } from './value-to-sql-parameter.ts';
import { writeRowsLocatingRefusal } from './write-rows-locating-refusal.ts';
import {
  createWriteStatementRunner,
  renderWriteResultSelect,
  renderWrittenRowTextColumn,
  type WriteStatementContext,
  type WriteStatementDeps,
  type WriteStatementRunner,
} from './write-statement.ts';

/** Inserts rows in as few statements as possible. Returns their keys in the order of `rows`. */
export async function insertRows(
  deps: WriteStatementDeps,
  context: WriteStatementContext,
  rows: readonly Payload[],
): Promise<Key[]> {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const fields = names.map((name) => context.collection.fields.get(name) as Field);
  const isUniform =
    rows.length > 1 && fields.length > 0 && fields.every(canBeArrayParameter) && rows.every(setsAllFields(names));
  const insert = isUniform ? insertArrays : insertTuples;
  const keys: Key[] = [];
  for (const { part, isLast: isLastSlice } of splitIntoSlices(rows, rowsPerStatement(isUniform ? 1 : fields.length))) {
    const isLast = context.isLast && isLastSlice;
    const writeSlice = (from: number, to: number) => {
      const at = [keys.length + from, keys.length + to] as const;
      const [revisionPlaces, paths] = [context.revisionPlaces?.slice(...at), context.paths.slice(...at)];
      const sliceRows = part.slice(from, to);
      // The statement of one row is cached by its columns.
      const setFields =
        sliceRows.length === 1 ? fields.filter(({ name }) => Object.hasOwn(sliceRows[0] as Payload, name)) : fields;
      // Only a statement that writes all rows can answer them.
      const answer = sliceRows.length === rows.length ? context.answer : undefined;
      return insert(deps, { ...context, revisionPlaces, paths, isLast, answer }, setFields, sliceRows);
    };
    keys.push(
      ...(await writeRowsLocatingRefusal(deps, context.collection, part, context.paths.slice(keys.length), writeSlice)),
    );
  }
  return keys;
}

const setsAllFields = (names: readonly string[]) => (row: Payload) => names.every((name) => Object.hasOwn(row, name));

/** Types of which node-postgres can write an array: elements are separated by commas, and each is a single value. */
const ARRAY_PARAMETER_TYPES =
  /^(smallint|integer|bigint|real|double precision|numeric|boolean|uuid|text|character|date|time|timestamp|jsonb?)\b/;
const canBeArrayParameter = ({ column }: Field): boolean =>
  !column?.array && ARRAY_PARAMETER_TYPES.test(column?.sqlType ?? '');

/**
 * Inserts rows that set the same columns, with one array parameter for each column. It takes PostgreSQL half the time
 * that one parameter for each value takes, and the statement text does not depend on the number of rows, so it is
 * prepared once.
 */
async function insertArrays(
  deps: WriteStatementDeps,
  context: WriteStatementContext,
  fields: readonly Field[],
  rows: readonly Payload[],
) {
  const { collection } = context;
  const runner = createWriteStatementRunner(deps, 'create', context);
  const first = runner.values.length + 1;
  const arrays = fields.map((field) => rows.map((row, at) => toSqlParameterValue(field, row, context.paths[at])));
  const statement = deps.statements(
    collection,
    `${runner.variant} arrays ${fields.map(({ name }) => name).join('\0')}`,
    () => {
      const list = (field: Field, at: number) => `$${first + at}::${field.column?.sqlType}[]`;
      const source = `select * from unnest(${fields.map(list).join(', ')})`;
      return renderInsert(context, runner, fields, source, `cardinality(${list(fields[0] as Field, 0)})`);
    },
  );
  return runner.run(
    statement,
    [...runner.values, ...arrays],
    () => missingRowsFailure(collection),
    (param) => fields[param - first],
  );
}

/** `source`: SQL of the rows' values; `count`: SQL of their number. */
function renderInsert(
  { collection, answer }: WriteStatementContext,
  runner: WriteStatementRunner,
  fields: readonly Field[],
  source: string,
  count: string,
): string {
  const history = runner.historySql();
  const into = `insert into ${tableSql(collection)} as t (${fields.map(columnSql).join(', ')}) ${source}`;
  return `with changed as (${into} returning ${keySql(requireKeyField(collection), 't')} as key${history.returning}${renderWrittenRowTextColumn(answer, history)})${history.ctes}${renderWriteResultSelect(history, count, answer)}`;
}

/**
 * The failure where PostgreSQL inserted fewer rows than sent: a trigger may skip a row, and the row's nested rows would
 * then be written to another one.
 */
const missingRowsFailure = ({ name }: Collection) =>
  fail('INVALID_PAYLOAD', `The database did not take every row of ${name}.`);

const findWritableColumn = ({ key, fields }: Collection): Field => {
  const isWritten = (field: Field) => field.column && !field.column.generated;
  return (key && isWritten(key) ? key : [...fields.values()].find(isWritten)) as Field;
};

/**
 * Inserts rows that omit different columns, or have arrays, geometry or user-defined types: with a parameter for each
 * value.
 */
async function insertTuples(
  deps: WriteStatementDeps,
  context: WriteStatementContext,
  fields: readonly Field[],
  rows: readonly Payload[],
) {
  const { collection } = context;
  const runner = createWriteStatementRunner(deps, 'create', context);
  const values: unknown[] = [...runner.values];
  const fieldOfValue: Field[] = [];
  for (const [at, row] of rows.entries()) {
    for (const field of fields) {
      if (!Object.hasOwn(row, field.name)) continue;
      values.push(toSqlParameterValue(field, row, context.paths[at]));
      fieldOfValue.push(field);
    }
  }
  const render = () => {
    let param = runner.values.length;
    const slot = (row: Payload, field: Field) =>
      Object.hasOwn(row, field.name) ? renderParameterCastSql(field, `$${++param}`) : 'default';
    // An insert needs a column, so rows without values name one, with `default`.
    const columns = fields.length > 0 ? fields : [findWritableColumn(collection)];
    const tuples = rows.map((row) => `(${columns.map((field) => slot(row, field)).join(', ')})`);
    return renderInsert(context, runner, columns, `values ${tuples.join(', ')}`, String(rows.length));
  };
  const statement =
    rows.length === 1
      ? deps.statements(collection, `${runner.variant} ${fields.map(({ name }) => name).join('\0')}`, render)
      : { text: render() };
  return runner.run(
    statement,
    values,
    () => missingRowsFailure(collection),
    (param) => fieldOfValue[param - runner.values.length - 1],
  );
}
