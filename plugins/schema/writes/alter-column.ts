import { isDeepStrictEqual } from 'node:util';
import { fail } from '#kernel';
import { identifier } from '../../database/library.ts';
import { columnSql } from '../column-sql.ts';
import type { Collection, Column, Field, FieldType } from '../contract.ts';
import { defaultValue } from '../default-value.ts';
import { objectName } from '../names.ts';
import { addIndex, addUnique, sizeOf } from './column-ddl.ts';
import { defaultSql } from './default-sql.ts';
import { tableOf, type WriteDeps } from './deps.ts';
import { flagOf, invalid, member, type Payload } from './payload.ts';

interface Place {
  readonly deps: WriteDeps;
  readonly collection: Collection;
  readonly field: Field;
  readonly column: Column;
  readonly table: string;
  /** Begins every change: `alter table … alter column …`. */
  readonly alter: string;
}

/**
 * Brings a column to what is asked for. Clients send back the whole description they were given, so what is as it was
 * asks for nothing.
 */
export async function alterColumn(
  deps: WriteDeps,
  collection: Collection,
  field: Field,
  type: FieldType,
  schema: Payload,
): Promise<void> {
  const column = field.column as Column;
  const changesType = type !== field.type || (await changesSize(deps, field, type, schema));
  const asked = member(schema, 'default_value');
  const before = defaultValue(field.type, column);
  const changesDefault = asked !== undefined && !isDeepStrictEqual(asked, before);
  refuseImpossible(field, column, schema);
  if (collection.kind !== 'table') {
    if (changesType || changesDefault || differs(schema, 'is_nullable', column.nullable)) {
      throw invalid(`"${collection.name}" is a view of the database and is changed there.`);
    }
    return;
  }
  const table = tableOf(collection);
  const place: Place = {
    deps,
    collection,
    field,
    column,
    table,
    alter: `alter table ${table} alter column ${identifier(column.name)}`,
  };
  if ((changesType || changesDefault) && column.generated)
    throw invalid(`Field "${field.name}" is computed by the database.`);

  if (changesType) await changeType(place, type, schema, changesDefault ? asked : before);
  else if (changesDefault) await setDefault(place, type, asked);
  if (differs(schema, 'is_nullable', column.nullable)) await changeNullable(place, !column.nullable);
  if (differs(schema, 'is_unique', column.unique)) await changeUnique(place, !column.unique);
  if (differs(schema, 'is_indexed', column.indexed)) await changeIndex(place, !column.indexed);
}

const differs = (schema: Payload, key: string, now: boolean): boolean => (flagOf(schema, key) ?? now) !== now;

function refuseImpossible(field: Field, column: Column, schema: Payload): void {
  if (differs(schema, 'is_primary_key', column.primary))
    throw invalid('The primary key of a collection cannot be changed.');
  if (differs(schema, 'has_auto_increment', column.autoIncrement))
    throw invalid('Auto-increment is set when a field is created.');
  if (column.primary && (flagOf(schema, 'is_nullable') === true || flagOf(schema, 'is_unique') === false)) {
    throw invalid(`Field "${field.name}" is the primary key: it is always filled and unique.`);
  }
}

async function changesSize({ db }: WriteDeps, field: Field, type: FieldType, schema: Payload): Promise<boolean> {
  const column = field.column as Column;
  const { maxLength, precision, scale } = await sizeOf(db, type, schema);
  if (column.dataType === 'character varying') return (maxLength ?? column.maxLength) !== column.maxLength;
  if (column.dataType !== 'numeric') return false;
  return (precision ?? column.precision) !== column.precision || (scale ?? column.scale) !== column.scale;
}

async function changeType(place: Place, type: FieldType, schema: Payload, fallback: unknown): Promise<void> {
  const { deps, field, column, alter } = place;
  const asked = await sizeOf(deps.db, type, schema);
  const same = type === field.type;
  const sql = columnSql(type, {
    maxLength: asked.maxLength ?? (same ? column.maxLength : undefined),
    precision: asked.precision ?? (same ? column.precision : undefined),
    scale: asked.scale ?? (same ? column.scale : undefined),
    geometrySchema: asked.geometrySchema,
  });
  // An automatic default is kept or goes with its type; any other one is written anew for the new type.
  const counts = column.autoIncrement && (type === 'integer' || type === 'bigInteger');
  if (column.default !== null && !counts) await deps.db.ddl(`${alter} drop default`);
  // To text first and then by assignment: an explicit cast to varchar(n) would cut values off without a word.
  const cast = sql === 'text' || sql.startsWith('varchar') ? 'text' : sql;
  await deps.db.ddl(`${alter} type ${sql} using ${identifier(column.name)}::${cast}`);
  if (!column.autoIncrement) await setDefault(place, type, fallback);
}

async function setDefault({ deps, column, alter }: Place, type: FieldType, value: unknown): Promise<void> {
  if (column.identityAlways || (column.autoIncrement && column.default === null)) {
    throw invalid('A field that increments by itself has no other default.');
  }
  const sql = defaultSql(type, value);
  await deps.db.ddl(sql === null ? `${alter} drop default` : `${alter} set default ${sql}`);
}

async function changeNullable({ deps, field, column, table, alter }: Place, nullable: boolean): Promise<void> {
  if (nullable) return deps.db.ddl(`${alter} drop not null`);
  const { rows } = await deps.db.query(`select 1 from ${table} where ${identifier(column.name)} is null limit 1`);
  if (rows.length > 0) {
    const { collection, name } = field;
    throw fail('CONTAINS_NULL_VALUES', `Field "${name}" of "${collection}" contains null values.`, {
      collection,
      field: name,
    });
  }
  await deps.db.ddl(`${alter} set not null`);
}

async function changeUnique({ deps, collection, column, table }: Place, unique: boolean): Promise<void> {
  if (unique) return deps.db.ddl(addUnique(table, nameOf(collection), column.name));
  for (const { name, constraint } of await indexesOn(deps, table, column.name, true)) {
    await deps.db.ddl(
      constraint ? `alter table ${table} drop constraint ${identifier(constraint)}` : `drop index ${name}`,
    );
  }
}

async function changeIndex({ deps, collection, column, table }: Place, indexed: boolean): Promise<void> {
  if (indexed) return deps.db.ddl(addIndex(table, nameOf(collection), [column.name]));
  const ours = objectName(nameOf(collection), column.name, 'index');
  for (const { name, columns, plain } of await indexesOn(deps, table, column.name, false)) {
    if (columns === 1 || plain === ours) await deps.db.ddl(`drop index ${name}`);
  }
}

const nameOf = (collection: Collection): string => collection.table?.name ?? collection.name;

interface IndexRow {
  /** Quoted, with its schema. */
  readonly name: string;
  readonly plain: string;
  readonly constraint: string | null;
  readonly columns: number;
}

/** Indexes that begin with this column; unique ones only where it is their only one. */
async function indexesOn(
  { db }: WriteDeps,
  table: string,
  column: string,
  unique: boolean,
): Promise<readonly IndexRow[]> {
  const { rows } = await db.query<IndexRow>(
    `select quote_ident(n.nspname) || '.' || quote_ident(c.relname) as name, c.relname as plain, k.conname as constraint,
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
