import { createHash } from 'node:crypto';
import type { Db, Migration } from '../../database/contract.ts';
import { quoteIdentifier, quoteLiteral } from '../../database/library.ts';
import { buildConstraintOrIndexName } from '../constraint-names.ts';
import type { SystemCollection } from '../contract.ts';
import { renderColumnDefinition } from './column-definition.ts';
import { type DeclaredCollections, findPrimaryField } from './declarations.ts';
import { renameFormerTables } from './former-names.ts';

/**
 * The comment by which PostgreSQL marks every table created here. A table of the same name without the comment belongs to another
 * program, and the migration fails.
 */
export const TABLE_COMMENT = 'system collection';

const ID_PREFIX = 'system-collections-';

/**
 * The migration that creates and extends the tables of all declared collections. Its id holds a hash of the declarations, so it
 * runs again when they change.
 */
export const createSystemTablesMigration = (read: () => DeclaredCollections): Migration => ({
  idPrefix: ID_PREFIX,
  get id() {
    return `${ID_PREFIX}${hashSystemCollectionDeclarations(read())}`;
  },
  async up(db) {
    const all = [...read().values()];
    await renameFormerTables(db, all);
    const existing = await readTables(db, all);
    await runAll(
      db,
      all.flatMap((one) => renderTableStatements(db, one, existing.get(one.collection))),
    );
    // Foreign keys follow when all tables exist.
    const constraints = await readConstraints(db, all);
    await runAll(
      db,
      all.flatMap((one) => renderReferenceStatements(db, one, read(), constraints)),
    );
  },
});

export const hashSystemCollectionDeclarations = (all: DeclaredCollections): string =>
  createHash('sha1')
    .update(JSON.stringify([...all.values()]))
    .digest('hex')
    .slice(0, 12);

type QueryDb = Pick<Db, 'query' | 'schemas'>;
const quoteTable = (db: QueryDb, name: string) =>
  `${quoteIdentifier(db.schemas[0] as string)}.${quoteIdentifier(name)}`;

async function readTables(
  db: QueryDb,
  all: readonly SystemCollection[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const { rows } = await db.query<{ name: string; ours: boolean; columns: string[] }>(
    `select c.relname as name, obj_description(c.oid, 'pg_class') is not distinct from $3 and c.relkind = 'r' as ours,
      array(select a.attname::text from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns
    from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relname = any($2::text[])`,
    [db.schemas[0], all.map(({ collection }) => collection), TABLE_COMMENT],
  );
  const unmarked = rows.find(({ ours }) => !ours);
  if (unmarked) {
    throw Object.assign(
      new Error(`the table ${unmarked.name} in schema ${db.schemas[0]} was not created by this service`),
      {
        remedy: 'rename it, or name an empty schema first in DB_SCHEMAS',
      },
    );
  }
  return new Map(rows.map(({ name, columns }) => [name, columns]));
}

/** Sends all statements in one message: the first start of a service has about two hundred, and would wait for each answer. */
async function runAll(db: QueryDb, statements: readonly string[]): Promise<void> {
  if (statements.length > 0) await db.query(statements.join(';\n'));
}

function renderTableStatements(
  db: QueryDb,
  one: SystemCollection,
  columns: readonly string[] | undefined,
): readonly string[] {
  const table = quoteTable(db, one.collection);
  const definitions = one.fields.flatMap((field) => {
    const sql = renderColumnDefinition(field);
    return sql ? [{ field, sql }] : [];
  });
  const statements: string[] = [];
  if (columns) {
    for (const { field, sql } of definitions) {
      if (!columns.includes(field.field)) statements.push(`alter table ${table} add column ${sql}`);
    }
  } else {
    const key = findPrimaryField(one);
    const lines = [
      ...definitions.map(({ sql }) => sql),
      ...(key ? [`primary key (${quoteIdentifier(key.field)})`] : []),
    ];
    statements.push(
      `create table ${table} (${lines.join(', ')})`,
      `comment on table ${table} is ${quoteLiteral(TABLE_COMMENT)}`,
    );
  }
  for (const { field } of definitions) {
    if (field.unique)
      statements.push(renderUniqueIndex(db, one.collection, [field.field], field.caseInsensitive === true));
    if (field.references && (field.references.constraint !== false || field.references.alias)) {
      const key = findPrimaryField(one)?.field;
      statements.push(
        renderIndex(db, one.collection, [field.field], key === undefined ? [field.field] : [field.field, key]),
      );
    }
  }
  for (const fields of one.unique ?? []) statements.push(renderUniqueIndex(db, one.collection, fields, false));
  for (const fields of one.indexes ?? []) statements.push(renderIndex(db, one.collection, fields, fields));
  return statements;
}

function renderUniqueIndex(db: QueryDb, collection: string, fields: readonly string[], ignoresCase: boolean): string {
  const columns = fields.map((field) => (ignoresCase ? `lower(${quoteIdentifier(field)})` : quoteIdentifier(field)));
  const name = quoteIdentifier(buildConstraintOrIndexName(collection, ...fields, 'unique'));
  return `create unique index if not exists ${name} on ${quoteTable(db, collection)} (${columns.join(', ')})`;
}

function renderIndex(db: QueryDb, collection: string, nameParts: readonly string[], fields: readonly string[]): string {
  const name = quoteIdentifier(buildConstraintOrIndexName(collection, ...nameParts, 'index'));
  const columns = fields.map(quoteIdentifier).join(', ');
  return `create index if not exists ${name} on ${quoteTable(db, collection)} (${columns})`;
}

/** Reads the names of the constraints of the declared tables, as `<table> <constraint>`. */
async function readConstraints(db: QueryDb, all: readonly SystemCollection[]): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ at: string }>(
    `select c.relname || ' ' || k.conname as at from pg_constraint k join pg_class c on c.oid = k.conrelid
    join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relname = any($2::text[])`,
    [db.schemas[0], all.map(({ collection }) => collection)],
  );
  return new Set(rows.map(({ at }) => at));
}

function renderReferenceStatements(
  db: QueryDb,
  one: SystemCollection,
  all: DeclaredCollections,
  constraints: ReadonlySet<string>,
): readonly string[] {
  const table = quoteTable(db, one.collection);
  return one.fields.flatMap(({ field, references }) => {
    if (!references) return [];
    const name = buildConstraintOrIndexName(one.collection, field, 'foreign');
    const exists = constraints.has(`${one.collection} ${name}`);
    // An earlier version may have created the foreign key.
    if (references.constraint === false)
      return exists ? [`alter table ${table} drop constraint ${quoteIdentifier(name)}`] : [];
    if (exists) return [];
    const key = findPrimaryField(all.get(references.collection) as SystemCollection)?.field as string;
    return [
      ...(references.onDelete === 'SET NULL'
        ? renderOrphanStatements(db, one.collection, field, references.collection, key)
        : []),
      `alter table ${table} add constraint ${quoteIdentifier(name)} foreign key (${quoteIdentifier(field)})
      references ${quoteTable(db, references.collection)} (${quoteIdentifier(key)}) on delete ${references.onDelete}`,
    ];
  });
}

/**
 * Renders statements that set values without a referenced row to null, as if their row had been deleted: a field may be older
 * than the collection it refers to. The lock keeps other transactions from writing new ones until the foreign key exists.
 */
function renderOrphanStatements(
  db: QueryDb,
  collection: string,
  field: string,
  related: string,
  key: string,
): readonly string[] {
  const [table, column] = [quoteTable(db, collection), quoteIdentifier(field)];
  return [
    `lock table ${table} in share row exclusive mode`,
    `update ${table} set ${column} = null where ${column} is not null
    and not exists (select from ${quoteTable(db, related)} one where one.${quoteIdentifier(key)} = ${table}.${column})`,
  ];
}
