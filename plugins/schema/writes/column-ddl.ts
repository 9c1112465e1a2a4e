import type { Db } from '../../database/contract.ts';
import { quoteIdentifier, quoteLiteral } from '../../database/library.ts';
import { type ColumnTypeOptions, renderColumnType } from '../column-type-sql.ts';
import { buildConstraintOrIndexName } from '../constraint-names.ts';
import type { FieldType } from '../contract.ts';
import { renderDefaultSql } from './default-sql.ts';
import { renderExactColumnType, renderExactDefault } from './exact-column.ts';
import type { NewField } from './field-input.ts';
import {
  createInvalidPayloadFailure,
  ownPayloadMember,
  type Payload,
  parseBooleanPayloadMember,
  parseIntegerPayloadMember,
} from './payload.ts';

const KEY_TYPES: readonly FieldType[] = ['integer', 'bigInteger', 'uuid', 'string'];

export const isNewPrimaryKeyField = ({ schema }: NewField): boolean =>
  parseBooleanPayloadMember(schema, 'is_primary_key') === true;

/** Parses the length, precision and scale that a request gives a column. @throws INVALID_PAYLOAD */
export async function parseColumnTypeOptions(
  db: Db,
  type: FieldType,
  schema: Payload | null | undefined,
): Promise<ColumnTypeOptions> {
  const precision = parseIntegerPayloadMember(schema, 'numeric_precision', 1, 1000);
  const scale = parseIntegerPayloadMember(schema, 'numeric_scale', 0, 1000);
  return {
    maxLength:
      type === 'string' || type === 'hash' ? parseIntegerPayloadMember(schema, 'max_length', 1, 10_485_760) : undefined,
    ...(type === 'decimal' ? { precision, scale } : {}),
    geometrySchema: type.startsWith('geometry') ? await findGeometrySchema(db) : null,
  };
}

/** Renders `"name" type default … not null`, the definition of a new column. */
export async function renderNewColumn(db: Db, field: NewField): Promise<string> {
  const { name, type, schema } = field;
  const isKey = isNewPrimaryKeyField(field);
  if (isKey && !KEY_TYPES.includes(type))
    throw createInvalidPayloadFailure(`A primary key cannot have the type "${type}".`);
  const isAutoIncrement = parseBooleanPayloadMember(schema, 'has_auto_increment') === true;
  if (isAutoIncrement && type !== 'integer' && type !== 'bigInteger')
    throw createInvalidPayloadFailure('Only whole numbers can increment by themselves.');
  const sql = isAutoIncrement
    ? renderAutoIncrementType(field)
    : ((field.exact ? renderExactColumnType(type, schema) : undefined) ??
      renderColumnType(type, await parseColumnTypeOptions(db, type, schema)));
  const value = ownPayloadMember(schema, 'default_value');
  const fallback = isAutoIncrement
    ? null
    : ((field.exact ? renderExactDefault(name, type, schema) : undefined) ?? renderDefaultSql(type, value));
  const isNotNull = isKey || parseBooleanPayloadMember(schema, 'is_nullable') === false;
  return [
    quoteIdentifier(name),
    sql,
    ...(fallback ? [`default ${fallback}`] : []),
    ...(isNotNull ? ['not null'] : []),
  ].join(' ');
}

function renderAutoIncrementType({ type, schema, exact }: NewField): string {
  const isGenerated = exact === true && schema.is_generated === true;
  if (exact && schema.data_type === 'smallint')
    return isGenerated ? 'smallint generated always as identity' : 'smallserial';
  if (isGenerated) return `${type === 'integer' ? 'integer' : 'bigint'} generated always as identity`;
  return type === 'integer' ? 'serial' : 'bigserial';
}

/** Creates the unique constraint and the index of a new column. */
export async function createColumnIndexes(db: Db, table: string, tableName: string, field: NewField): Promise<void> {
  if (parseBooleanPayloadMember(field.schema, 'is_unique') && !isNewPrimaryKeyField(field))
    await db.ddl(renderAddUnique(table, tableName, field.name));
  if (parseBooleanPayloadMember(field.schema, 'is_indexed'))
    await db.ddl(renderAddIndex(table, tableName, [field.name]));
  if (field.exact && typeof field.schema.comment === 'string')
    await db.ddl(renderColumnComment(table, field.name, field.schema.comment));
}

export const renderColumnComment = (table: string, column: string, comment: string | null): string =>
  `comment on column ${table}.${quoteIdentifier(column)} is ${comment === null ? 'null' : quoteLiteral(comment)}`;

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
