import type { Db } from '../../database/contract.ts';
import { quoteIdentifier } from '../../database/library.ts';
import { type ColumnSize, renderColumnType } from '../column-sql.ts';
import { buildConstraintOrIndexName } from '../constraint-names.ts';
import type { FieldType } from '../contract.ts';
import { renderDefaultSql } from './default-sql.ts';
import type { NewField } from './field-input.ts';
import { invalidPayload, ownMember, type Payload, parseFlag, parseInteger } from './payload.ts';

const KEY_TYPES: readonly FieldType[] = ['integer', 'bigInteger', 'uuid', 'string'];

export const isPrimaryKey = ({ schema }: NewField): boolean => parseFlag(schema, 'is_primary_key') === true;

/** Parses the length, precision and scale that a request gives a column. @throws INVALID_PAYLOAD */
export async function parseColumnSize(
  db: Db,
  type: FieldType,
  schema: Payload | null | undefined,
): Promise<ColumnSize> {
  const precision = parseInteger(schema, 'numeric_precision', 1, 1000);
  const scale = parseInteger(schema, 'numeric_scale', 0, 1000);
  return {
    maxLength: type === 'string' || type === 'hash' ? parseInteger(schema, 'max_length', 1, 10_485_760) : undefined,
    ...(type === 'decimal' ? { precision, scale } : {}),
    geometrySchema: type.startsWith('geometry') ? await findGeometrySchema(db) : null,
  };
}

/** Renders `"name" type default … not null`, the definition of a new column. */
export async function renderNewColumn(db: Db, field: NewField): Promise<string> {
  const { name, type, schema } = field;
  const isKey = isPrimaryKey(field);
  if (isKey && !KEY_TYPES.includes(type)) throw invalidPayload(`A primary key cannot have the type "${type}".`);
  const isAutoIncrement = parseFlag(schema, 'has_auto_increment') === true;
  if (isAutoIncrement && type !== 'integer' && type !== 'bigInteger')
    throw invalidPayload('Only whole numbers can increment by themselves.');
  const sql = isAutoIncrement
    ? type === 'integer'
      ? 'serial'
      : 'bigserial'
    : renderColumnType(type, await parseColumnSize(db, type, schema));
  const fallback = isAutoIncrement ? null : renderDefaultSql(type, ownMember(schema, 'default_value'));
  const isNotNull = isKey || parseFlag(schema, 'is_nullable') === false;
  return [
    quoteIdentifier(name),
    sql,
    ...(fallback ? [`default ${fallback}`] : []),
    ...(isNotNull ? ['not null'] : []),
  ].join(' ');
}

/** Creates the unique constraint and the index of a new column. */
export async function createColumnIndexes(db: Db, table: string, tableName: string, field: NewField): Promise<void> {
  if (parseFlag(field.schema, 'is_unique') && !isPrimaryKey(field))
    await db.ddl(renderAddUnique(table, tableName, field.name));
  if (parseFlag(field.schema, 'is_indexed')) await db.ddl(renderAddIndex(table, tableName, [field.name]));
}

export const renderAddUnique = (table: string, tableName: string, column: string): string =>
  `alter table ${table} add constraint ${quoteIdentifier(buildConstraintOrIndexName(tableName, column, 'unique'))} unique (${quoteIdentifier(column)})`;

export const renderAddIndex = (table: string, tableName: string, columns: readonly string[]): string =>
  `create index if not exists ${quoteIdentifier(buildConstraintOrIndexName(tableName, columns[0] as string, 'index'))}
  on ${table} (${columns.map(quoteIdentifier).join(', ')})`;

async function findGeometrySchema(db: Db): Promise<string | null> {
  const { rows } = await db.query<{ schema: string }>(
    `select quote_ident(n.nspname) as schema from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'postgis'`,
  );
  return rows[0]?.schema ?? null;
}
