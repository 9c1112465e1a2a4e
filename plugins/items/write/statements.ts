import { fail } from '#kernel';
import { identifier } from '../../database/contract.ts';
import type { Condition } from '../../query/contract.ts';
import type { Collection, Field } from '../../schema/contract.ts';
import type { Key, Payload } from '../contract.ts';
import type { Deps } from '../deps.ts';
import { keyField, keyType } from '../target.ts';
import { asWriteError } from './database-errors.ts';
import { castSql, paramOf } from './values.ts';

type Db = Deps['db'];

/** PostgreSQL takes 65,535 parameters a statement. */
const MAX_PARAMS = 60_000;
const MAX_ROWS = 5_000;

const tableOf = ({ table }: Collection): string => {
  if (!table) throw fail('FORBIDDEN', 'a folder holds no rows');
  return `${identifier(table.schema)}.${identifier(table.name)}`;
};
const columnOf = (field: Field): string => identifier((field.column as { name: string }).name);

/** As texts where the driver would make something else of them than JSON has, dates for example. */
const returned = (field: Field, alias = ''): string =>
  `${alias}${columnOf(field)}${field.type === 'integer' ? '' : '::text'} as key`;

/** `fieldOf` tells which field a parameter (counted from 1) is a value of, for complaints about it. */
async function run<Row>(
  db: Db,
  collection: Collection,
  text: string,
  params: readonly unknown[],
  fieldOf?: (param: number) => Field | undefined,
) {
  try {
    return await db.query<Row>(text, params);
  } catch (error) {
    throw asWriteError(error, collection, params, fieldOf);
  }
}

/** Inserts rows in multi-row statements; answers their keys in the order given. */
export async function insertRows(db: Db, collection: Collection, rows: readonly Payload[]): Promise<Key[]> {
  const key = returned(keyField(collection));
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const fields = names.map((name) => collection.fields.get(name) as Field);
  const into = `insert into ${tableOf(collection)}`;
  const keys: Key[] = [];
  if (fields.length === 0) {
    for (const _row of rows) {
      const { rows: made } = await run<{ key: Key }>(db, collection, `${into} default values returning ${key}`, []);
      keys.push(...made.map((row) => row.key));
    }
    return complete(collection, rows, keys);
  }
  const size = Math.min(MAX_ROWS, Math.max(1, Math.floor(MAX_PARAMS / fields.length)));
  for (let from = 0; from < rows.length; from += size) {
    const params: unknown[] = [];
    const owners: Field[] = [];
    const tuples = rows.slice(from, from + size).map((row) => {
      const values = fields.map((field) => {
        if (!Object.hasOwn(row, field.name)) return 'default';
        params.push(paramOf(field, row[field.name]).value);
        owners.push(field);
        return castSql(field, `$${params.length}`);
      });
      return `(${values.join(', ')})`;
    });
    const text = `${into} (${fields.map(columnOf).join(', ')}) values ${tuples.join(', ')} returning ${key}`;
    const { rows: made } = await run<{ key: Key }>(db, collection, text, params, (param) => owners[param - 1]);
    keys.push(...made.map((row) => row.key));
  }
  return complete(collection, rows, keys);
}

/** A trigger may leave a row out; what hangs on it would be written to another one. */
function complete(collection: Collection, rows: readonly Payload[], keys: Key[]): Key[] {
  if (keys.length === rows.length) return keys;
  throw fail('INVALID_PAYLOAD', `The database did not take every row of ${collection.name}.`);
}

/** Changes the rows of these keys that the condition (over `t`, parameters from `$2`) admits; answers their keys. */
export async function updateRows(
  db: Db,
  collection: Collection,
  keys: readonly Key[],
  payload: Payload,
  condition: Condition,
): Promise<Key[]> {
  const key = keyField(collection);
  const params: unknown[] = [keys, ...condition.params];
  const owners = Object.keys(payload).map((name) => collection.fields.get(name) as Field);
  const sets = owners.map((field) => {
    const value = payload[field.name];
    params.push(paramOf(field, value).value);
    return `${columnOf(field)} = ${castSql(field, `$${params.length}`)}`;
  });
  const where = `t.${columnOf(key)} = any($1::${keyType(key)}[]) and (${condition.text})`;
  const text =
    sets.length > 0
      ? `update ${tableOf(collection)} t set ${sets.join(', ')} where ${where} returning ${returned(key, 't.')}`
      : `select ${returned(key, 't.')} from ${tableOf(collection)} t where ${where} for update`;
  const before = 1 + condition.params.length;
  const { rows } = await run<{ key: Key }>(db, collection, text, params, (param) => owners[param - before - 1]);
  return rows.map((row) => row.key);
}

/** Deletes the rows of these keys that the condition admits; answers their keys. */
export async function deleteRows(
  db: Db,
  collection: Collection,
  keys: readonly Key[],
  condition: Condition,
): Promise<Key[]> {
  const key = keyField(collection);
  const text = `delete from ${tableOf(collection)} t where t.${columnOf(key)} = any($1::${keyType(key)}[]) and (${condition.text}) returning ${returned(key, 't.')}`;
  const { rows } = await run<{ key: Key }>(db, collection, text, [keys, ...condition.params]);
  return rows.map((row) => row.key);
}

/** Keys of the rows whose field has this value: what a to-many alias shows at the moment. */
export async function keysWhere(db: Db, collection: Collection, field: Field, value: unknown): Promise<Key[]> {
  const text = `select ${returned(keyField(collection), 't.')} from ${tableOf(collection)} t where t.${columnOf(field)} = ${castSql(field, '$1')}`;
  const { rows } = await run<{ key: Key }>(db, collection, text, [value]);
  return rows.map((row) => row.key);
}

/** The greatest value of `field` among the rows whose `link` has this value; 0 without any. */
export async function greatest(
  db: Db,
  collection: Collection,
  field: Field,
  link: Field,
  value: unknown,
): Promise<number> {
  const text = `select coalesce(max(t.${columnOf(field)}), 0) as last from ${tableOf(collection)} t where t.${columnOf(link)} = ${castSql(link, '$1')}`;
  const { rows } = await run<{ last: number }>(db, collection, text, [value]);
  return rows[0]?.last ?? 0;
}

/** Which of these keys exist. */
export async function existingKeys(db: Db, collection: Collection, keys: readonly Key[]): Promise<ReadonlySet<string>> {
  if (keys.length === 0) return new Set();
  const key = keyField(collection);
  const text = `select ${returned(key, 't.')} from ${tableOf(collection)} t where t.${columnOf(key)} = any($1::${keyType(key)}[])`;
  const { rows } = await run<{ key: Key }>(db, collection, text, [keys]);
  return new Set(rows.map((row) => String(row.key)));
}

/** One column of one row: what a relation that does not point at the key points at. */
export async function columnValue(db: Db, collection: Collection, key: Key, column: string): Promise<unknown> {
  const field = keyField(collection);
  const text = `select t.${identifier(column)} as value from ${tableOf(collection)} t where t.${columnOf(field)} = $1::${field.column?.sqlType}`;
  const { rows } = await run<{ value: unknown }>(db, collection, text, [key]);
  return rows[0]?.value;
}
