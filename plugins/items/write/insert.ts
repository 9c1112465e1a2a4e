import { fail } from '#kernel';
import type { Field } from '../../schema/contract.ts';
import type { Key, Payload } from '../contract.ts';
import { keyField } from '../target.ts';
import { columnOf, keySql, rowsAtOnce, slices, tableOf } from './sql.ts';
import { finalSql, openStep, type StepDeps, type Writing } from './step.ts';
import { castSql, paramOf } from './values.ts';

/** Inserts rows in as few statements as hold them; answers their keys in the order given. */
export async function insertRows(deps: StepDeps, writing: Writing, rows: readonly Payload[]): Promise<Key[]> {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const fields = names.map((name) => writing.collection.fields.get(name) as Field);
  const keys: Key[] = [];
  for (const { part, isLast } of slices(rows, rowsAtOnce(fields.length))) {
    const places = writing.places?.slice(keys.length, keys.length + part.length);
    keys.push(...(await insertSome(deps, { ...writing, places, last: writing.last && isLast }, fields, part)));
  }
  return keys;
}

async function insertSome(deps: StepDeps, writing: Writing, fields: readonly Field[], rows: readonly Payload[]) {
  const { collection } = writing;
  const key = keyField(collection);
  const step = openStep(deps, 'create', writing);
  const values: unknown[] = [...step.values];
  const owners: Field[] = [];
  for (const row of rows) {
    for (const field of fields) {
      if (!Object.hasOwn(row, field.name)) continue;
      values.push(paramOf(field, row[field.name]).value);
      owners.push(field);
    }
  }
  const write = () => {
    let param = step.values.length;
    const slot = (row: Payload, field: Field) =>
      Object.hasOwn(row, field.name) ? castSql(field, `$${++param}`) : 'default';
    // A row of nothing but defaults has its key as one of them.
    const columns = fields.length > 0 ? fields : [key];
    const tuples = rows.map((row) => `(${columns.map((field) => slot(row, field)).join(', ')})`);
    const recorded = step.recorded();
    return `with changed as (insert into ${tableOf(collection)} as t (${columns.map(columnOf).join(', ')}) values ${tuples.join(', ')} returning ${keySql(key, 't')} as key${recorded.returning})${recorded.ctes}${finalSql(recorded, String(rows.length))}`;
  };
  const shape =
    rows.length === 1
      ? deps.shapes(collection, `${step.variant} ${fields.map(({ name }) => name).join('\0')}`, write)
      : { text: write() };
  // A trigger may leave a row out; what hangs on it would be written to another one.
  const refusal = () => fail('INVALID_PAYLOAD', `The database did not take every row of ${collection.name}.`);
  return step.run(shape, values, refusal, (param) => owners[param - step.values.length - 1]);
}
