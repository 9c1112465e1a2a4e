import type { Db } from '../../database/contract.ts';
import { identifier } from '../../database/library.ts';
import { columnSql, type Size } from '../column-sql.ts';
import type { FieldType } from '../contract.ts';
import { objectName } from '../names.ts';
import { defaultSql } from './default-sql.ts';
import type { NewField } from './field-input.ts';
import { flagOf, invalid, member, type Payload, wholeOf } from './payload.ts';

const KEY_TYPES: readonly FieldType[] = ['integer', 'bigInteger', 'uuid', 'string'];

export const isKey = ({ schema }: NewField): boolean => flagOf(schema, 'is_primary_key') === true;

/** Sizes as a client asks for them. */
export async function sizeOf(db: Db, type: FieldType, schema: Payload | null | undefined): Promise<Size> {
  const precision = wholeOf(schema, 'numeric_precision', 1, 1000);
  const scale = wholeOf(schema, 'numeric_scale', 0, 1000);
  return {
    maxLength: type === 'string' || type === 'hash' ? wholeOf(schema, 'max_length', 1, 10_485_760) : undefined,
    ...(type === 'decimal' ? { precision, scale } : {}),
    geometrySchema: type.startsWith('geometry') ? await geometrySchema(db) : null,
  };
}

/** `"name" type default … not null` of a new column. */
export async function newColumn(db: Db, field: NewField): Promise<string> {
  const { name, type, schema } = field;
  const key = isKey(field);
  if (key && !KEY_TYPES.includes(type)) throw invalid(`A primary key cannot have the type "${type}".`);
  const counts = flagOf(schema, 'has_auto_increment') === true;
  if (counts && type !== 'integer' && type !== 'bigInteger')
    throw invalid('Only whole numbers can increment by themselves.');
  const sql = counts ? (type === 'integer' ? 'serial' : 'bigserial') : columnSql(type, await sizeOf(db, type, schema));
  const fallback = counts ? null : defaultSql(type, member(schema, 'default_value'));
  const filled = key || flagOf(schema, 'is_nullable') === false;
  return [identifier(name), sql, ...(fallback ? [`default ${fallback}`] : []), ...(filled ? ['not null'] : [])].join(
    ' ',
  );
}

/** Uniqueness and index of a new column, whose table is there. */
export async function newColumnIndexes(db: Db, table: string, tableName: string, field: NewField): Promise<void> {
  if (flagOf(field.schema, 'is_unique') && !isKey(field)) await db.ddl(addUnique(table, tableName, field.name));
  if (flagOf(field.schema, 'is_indexed')) await db.ddl(addIndex(table, tableName, [field.name]));
}

export const addUnique = (table: string, tableName: string, column: string): string =>
  `alter table ${table} add constraint ${identifier(objectName(tableName, column, 'unique'))} unique (${identifier(column)})`;

export const addIndex = (table: string, tableName: string, columns: readonly string[]): string =>
  `create index if not exists ${identifier(objectName(tableName, columns[0] as string, 'index'))}
  on ${table} (${columns.map(identifier).join(', ')})`;

async function geometrySchema(db: Db): Promise<string | null> {
  const { rows } = await db.query<{ schema: string }>(
    `select quote_ident(n.nspname) as schema from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'postgis'`,
  );
  return rows[0]?.schema ?? null;
}
