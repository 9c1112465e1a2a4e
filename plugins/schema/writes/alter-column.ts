import { isDeepStrictEqual } from 'node:util';
import { fail } from '#kernel';
import { quoteIdentifier } from '../../database/library.ts';
import { renderColumnType } from '../column-type-sql.ts';
import { buildConstraintOrIndexName } from '../constraint-names.ts';
import type { Collection, Column, Field, FieldType } from '../contract.ts';
import { parseColumnDefault } from '../default-value.ts';
import { parseColumnTypeOptions, renderAddIndex, renderAddUnique, renderColumnComment } from './column-ddl.ts';
import { renderDefaultSql } from './default-sql.ts';
import { renderCurrentColumnType, renderExactColumnType, renderExactDefault } from './exact-column.ts';
import { createInvalidPayloadFailure, ownPayloadMember, type Payload, parseBooleanPayloadMember } from './payload.ts';
import { quoteTable, type SchemaWriteDeps } from './write-deps-and-guards.ts';

interface ColumnTarget {
  readonly deps: SchemaWriteDeps;
  readonly collection: Collection;
  readonly field: Field;
  readonly column: Column;
  readonly table: string;
  /** How every statement begins: `alter table … alter column …`. */
  readonly alter: string;
}

/**
 * Alters a column to match the request. Clients send back the full `schema` they have read, so unchanged members run no
 * statement.
 */
export async function alterColumn(
  deps: SchemaWriteDeps,
  collection: Collection,
  field: Field,
  type: FieldType,
  schema: Payload,
): Promise<void> {
  const column = field.column as Column;
  const exactType = deps.exact ? renderExactColumnType(type, schema) : undefined;
  const changesType = exactType
    ? exactType !== renderCurrentColumnType(field)
    : type !== field.type || (await isSizeChange(deps, field, type, schema));
  const requestedDefault = ownPayloadMember(schema, 'default_value');
  const currentDefault = parseColumnDefault(field.type, column);
  const changesDefault = requestedDefault !== undefined && !isDeepStrictEqual(requestedDefault, currentDefault);
  assertChangeable(field, column, schema);
  if (collection.kind !== 'table') {
    if (changesType || changesDefault || isDifferent(schema, 'is_nullable', column.nullable)) {
      throw createInvalidPayloadFailure(`"${collection.name}" is a view of the database and is changed there.`);
    }
    return;
  }
  const table = quoteTable(collection);
  const target: ColumnTarget = {
    deps,
    collection,
    field,
    column,
    table,
    alter: `alter table ${table} alter column ${quoteIdentifier(column.name)}`,
  };
  if ((changesType || changesDefault) && column.generated)
    throw createInvalidPayloadFailure(`Field "${field.name}" is computed by the database.`);

  if (changesType)
    await changeType(target, type, schema, changesDefault ? requestedDefault : currentDefault, exactType);
  else if (changesDefault) await setDefault(target, type, requestedDefault, schema);
  if (isDifferent(schema, 'is_nullable', column.nullable)) await changeNullable(target, !column.nullable);
  if (isDifferent(schema, 'is_unique', column.unique)) await changeUnique(target, !column.unique);
  if (isDifferent(schema, 'is_indexed', column.indexed)) await changeIndex(target, !column.indexed);
  const comment = ownPayloadMember(schema, 'comment') ?? null;
  if (deps.exact && 'data_type' in schema && comment !== column.comment)
    await deps.db.ddl(renderColumnComment(table, column.name, comment as string | null));
}

const isDifferent = (schema: Payload, key: string, now: boolean): boolean =>
  (parseBooleanPayloadMember(schema, key) ?? now) !== now;

function assertChangeable(field: Field, column: Column, schema: Payload): void {
  if (isDifferent(schema, 'is_primary_key', column.primary))
    throw createInvalidPayloadFailure('The primary key of a collection cannot be changed.');
  if (isDifferent(schema, 'has_auto_increment', column.autoIncrement))
    throw createInvalidPayloadFailure('Auto-increment is set when a field is created.');
  if (
    column.primary &&
    (parseBooleanPayloadMember(schema, 'is_nullable') === true ||
      parseBooleanPayloadMember(schema, 'is_unique') === false)
  ) {
    throw createInvalidPayloadFailure(`Field "${field.name}" is the primary key: it is always filled and unique.`);
  }
}

async function isSizeChange({ db }: SchemaWriteDeps, field: Field, type: FieldType, schema: Payload): Promise<boolean> {
  const column = field.column as Column;
  const { maxLength, precision, scale } = await parseColumnTypeOptions(db, type, schema);
  if (column.dataType === 'character varying') return (maxLength ?? column.maxLength) !== column.maxLength;
  if (column.dataType !== 'numeric') return false;
  return (precision ?? column.precision) !== column.precision || (scale ?? column.scale) !== column.scale;
}

async function changeType(
  target: ColumnTarget,
  type: FieldType,
  schema: Payload,
  fallback: unknown,
  exactType: string | undefined,
): Promise<void> {
  const { deps, field, column, table, alter } = target;
  const requested = await parseColumnTypeOptions(deps.db, type, schema);
  const keepsType = type === field.type;
  const sql =
    exactType ??
    renderColumnType(type, {
      maxLength: requested.maxLength ?? (keepsType ? column.maxLength : undefined),
      precision: requested.precision ?? (keepsType ? column.precision : undefined),
      scale: requested.scale ?? (keepsType ? column.scale : undefined),
      geometrySchema: requested.geometrySchema,
    });
  // The default of an auto-increment column stays while the type is an integer; any other default is set again for the
  // new type.
  const staysAutoIncrement = column.autoIncrement && (type === 'integer' || type === 'bigInteger');
  if (column.default !== null && !staysAutoIncrement) await deps.db.ddl(`${alter} drop default`);
  // A cast to text and an assignment fail for values that are too long; an explicit cast to varchar(n) would truncate
  // them.
  const cast = sql === 'text' || sql.startsWith('varchar') ? 'text' : sql;
  const quoted = quoteIdentifier(column.name);
  const { collection, name } = field;
  const conversion = { collection, field: name, table, column: quoted, from: column.sqlType, to: sql, cast };
  if (deps.tryConversion && !(await deps.tryConversion(conversion))) return;
  await deps.db.ddl(`${alter} type ${sql} using ${quoted}::${cast}`);
  if (!column.autoIncrement) await setDefault(target, type, fallback, schema);
}

async function setDefault(
  { deps, field, column, alter }: ColumnTarget,
  type: FieldType,
  value: unknown,
  schema: Payload,
): Promise<void> {
  if (column.identityAlways || (column.autoIncrement && column.default === null)) {
    throw createInvalidPayloadFailure('A field that increments by itself has no other default.');
  }
  const sql =
    (deps.exact ? renderExactDefault(field.name, type, { ...schema, default_value: value }) : undefined) ??
    renderDefaultSql(type, value);
  await deps.db.ddl(sql === null ? `${alter} drop default` : `${alter} set default ${sql}`);
}

async function changeNullable({ deps, field, column, table, alter }: ColumnTarget, nullable: boolean): Promise<void> {
  if (nullable) return deps.db.ddl(`${alter} drop not null`);
  const { rows } = await deps.db.query(`select 1 from ${table} where ${quoteIdentifier(column.name)} is null limit 1`);
  if (rows.length > 0) {
    const { collection, name } = field;
    throw fail('CONTAINS_NULL_VALUES', `Field "${name}" of "${collection}" contains null values.`, {
      collection,
      field: name,
    });
  }
  await deps.db.ddl(`${alter} set not null`);
}

async function changeUnique({ deps, collection, column, table }: ColumnTarget, unique: boolean): Promise<void> {
  if (unique) return deps.db.ddl(renderAddUnique(table, tableName(collection), column.name));
  for (const { name, constraint } of await readIndexes(deps, table, column.name, true)) {
    await deps.db.ddl(
      constraint ? `alter table ${table} drop constraint ${quoteIdentifier(constraint)}` : `drop index ${name}`,
    );
  }
}

async function changeIndex({ deps, collection, column, table }: ColumnTarget, indexed: boolean): Promise<void> {
  if (indexed) return deps.db.ddl(renderAddIndex(table, tableName(collection), [column.name]));
  const ours = buildConstraintOrIndexName(tableName(collection), column.name, 'index');
  for (const { name, columns, unquoted } of await readIndexes(deps, table, column.name, false)) {
    if (columns === 1 || unquoted === ours) await deps.db.ddl(`drop index ${name}`);
  }
}

const tableName = (collection: Collection): string => collection.table?.name ?? collection.name;

interface IndexRow {
  /** The name of the index, quoted, with its schema. */
  readonly name: string;
  readonly unquoted: string;
  readonly constraint: string | null;
  readonly columns: number;
}

/** Reads the indexes that begin with this column; unique ones only where it is their only column. */
async function readIndexes(
  { db }: SchemaWriteDeps,
  table: string,
  column: string,
  unique: boolean,
): Promise<readonly IndexRow[]> {
  const { rows } = await db.query<IndexRow>(
    `select quote_ident(n.nspname) || '.' || quote_ident(c.relname) as name, c.relname as unquoted, k.conname as constraint,
      i.indnkeyatts::int as columns
    from pg_index i join pg_class c on c.oid = i.indexrelid join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
    left join pg_constraint k on k.conindid = i.indexrelid and k.contype = 'u'
    where i.indrelid = to_regclass($1) and a.attname = $2 and i.indisunique = $3 and not i.indisprimary and i.indpred is null
      and (i.indnkeyatts = 1 or not i.indisunique)`,
    [table, column, unique],
  );
  return rows;
}
