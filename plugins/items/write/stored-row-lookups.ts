import type { SqlCondition } from '../../query/contract.ts';
import { fieldColumnListSql, keyEqualsSql, keyInSql } from '../../query/library.ts';
import type { Collection, Field } from '../../schema/contract.ts';
import type { Key } from '../contract.ts';
import type { ItemsEngineDeps } from '../deps.ts';
import { keySqlType, requireKeyField } from '../find-collection-and-key.ts';
import { translatePostgresWriteError } from './database-errors.ts';
import { columnSql, keySql, tableSql } from './sql.ts';

type Db = ItemsEngineDeps['db'];

async function queryRows<Row>(
  db: Db,
  collection: Collection,
  text: string,
  params: readonly unknown[],
): Promise<Row[]> {
  try {
    return (await db.query<Row>(text, params)).rows;
  } catch (error) {
    throw translatePostgresWriteError(error, collection);
  }
}

/**
 * Finds which of these keys are stored: the stored keys by the text of the requested key (`1.5` may be stored as
 * `1.50`).
 */
export async function findExistingKeys(
  db: Db,
  collection: Collection,
  keys: readonly Key[],
): Promise<ReadonlyMap<string, Key>> {
  if (keys.length === 0) return new Map();
  const key = requireKeyField(collection);
  const keyColumn = keySql(key, 't');
  const table = `${tableSql(collection)} t`;
  if (hasCanonicalKeyText(key)) {
    const text = `select ${keyColumn} as key from ${table} where ${keyInSql('t', key, `$1::${keySqlType(key)}[]`)}`;
    const rows = await queryRows<{ key: Key }>(db, collection, text, [keys]);
    return new Map(rows.map((row) => [String(row.key), row.key]));
  }
  const text = `select ${keyColumn} as key, p.at::int
    from unnest($1::${keySqlType(key)}[]) with ordinality p(key, at) join ${table} on ${keyEqualsSql('t', key, 'p.key')}`;
  const rows = await queryRows<{ key: Key; at: number }>(db, collection, text, [keys]);
  return new Map(rows.map((row) => [String(keys[row.at - 1]), row.key]));
}

const EXACT_TYPES: ReadonlySet<string> = new Set(['integer', 'bigInteger', 'uuid', 'boolean']);
const TEXT_TYPES = /^(text|character|enum)/;

/** Whether equal keys of this field always have the same text. */
export const hasCanonicalKeyText = (key: Field): boolean =>
  (key.parts ?? [key]).every(({ type, column }) => EXACT_TYPES.has(type) || TEXT_TYPES.test(column?.dataType ?? ''));

/**
 * The current rows of a to-many alias: for each parent the keys of the rows whose `link` refers to it. Results are
 * matched by the index of the parent, since equal keys may differ as texts (`1.50`).
 */
export async function findLinkedKeys(
  db: Db,
  collection: Collection,
  link: Field,
  parents: readonly Key[],
): Promise<ReadonlyMap<Key, readonly Key[]>> {
  const children = new Map<Key, Key[]>(parents.map((parent) => [parent, []]));
  if (parents.length === 0) return children;
  const text = `select ${keySql(requireKeyField(collection), 't')} as key, p.at::int
    from unnest($1::${keySqlType(link)}[]) with ordinality p(key, at) join ${tableSql(collection)} t on ${keyEqualsSql('t', link, 'p.key')}`;
  for (const { key, at } of await queryRows<{ key: Key; at: number }>(db, collection, text, [parents]))
    children.get(parents[at - 1] as Key)?.push(key);
  return children;
}

/** The greatest value of `order` among the rows of each parent; 0 without rows. */
export async function findLastPositions(
  db: Db,
  collection: Collection,
  order: Field,
  link: Field,
  parents: readonly Key[],
): Promise<ReadonlyMap<Key, number>> {
  if (parents.length === 0) return new Map();
  const text = `select p.at::int, coalesce(max(t.${columnSql(order)}), 0) as last
    from unnest($1::${keySqlType(link)}[]) with ordinality p(key, at) join ${tableSql(collection)} t on ${keyEqualsSql('t', link, 'p.key')} group by 1`;
  const rows = await queryRows<{ at: number; last: number }>(db, collection, text, [parents]);
  return new Map(rows.map(({ at, last }) => [parents[at - 1] as Key, last]));
}

/** Locks the rows of these keys that match the condition (parameters from `$2`). Returns their number. */
export async function lockRows(
  db: Db,
  collection: Collection,
  keys: readonly Key[],
  condition: SqlCondition,
): Promise<number> {
  const key = requireKeyField(collection);
  const columns = fieldColumnListSql('t', key).join(', ');
  const among = keyInSql('t', key, `$1::${keySqlType(key)}[]`);
  const text = `select ${columns} from ${tableSql(collection)} t where ${among} and (${condition.text}) order by ${columns} for no key update`;
  return (await queryRows(db, collection, text, [keys, ...condition.params])).length;
}
