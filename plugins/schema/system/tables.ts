import { createHash } from 'node:crypto';
import type { Db, Migration } from '../../database/contract.ts';
import { identifier, literal } from '../../database/library.ts';
import type { SystemCollection } from '../contract.ts';
import { objectName } from '../names.ts';
import { columnDefinition } from './column-definition.ts';
import { type Declarations, primaryField } from './declarations.ts';

/** On every table made here, so that one of somebody else's with the same name is never taken for ours. */
const MARK = 'system collection';

const SERIES = 'system-collections-';

/** Makes and extends the tables of all declared collections; runs again whenever the declarations change. */
export const systemTables = (read: () => Declarations): Migration => ({
  series: SERIES,
  get id() {
    return `${SERIES}${hashOf(read())}`;
  },
  async up(db) {
    const all = [...read().values()];
    const there = await tablesThere(db, all);
    await runAll(
      db,
      all.flatMap((one) => tableStatements(db, one, there.get(one.collection))),
    );
    // Constraints between tables come when all tables are there.
    const constraints = await constraintsThere(db, all);
    await runAll(
      db,
      all.flatMap((one) => referenceStatements(db, one, read(), constraints)),
    );
  },
});

export const hashOf = (all: Declarations): string =>
  createHash('sha1')
    .update(JSON.stringify([...all.values()]))
    .digest('hex')
    .slice(0, 12);

type Runner = Pick<Db, 'query' | 'schemas'>;
const tableOf = (db: Runner, name: string) => `${identifier(db.schemas[0] as string)}.${identifier(name)}`;

async function tablesThere(
  db: Runner,
  all: readonly SystemCollection[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const { rows } = await db.query<{ name: string; ours: boolean; columns: string[] }>(
    `select c.relname as name, obj_description(c.oid, 'pg_class') is not distinct from $3 and c.relkind = 'r' as ours,
      array(select a.attname::text from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns
    from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relname = any($2::text[])`,
    [db.schemas[0], all.map(({ collection }) => collection), MARK],
  );
  const foreign = rows.find(({ ours }) => !ours);
  if (foreign) {
    throw Object.assign(
      new Error(`the table ${foreign.name} in schema ${db.schemas[0]} was not made by this service`),
      {
        remedy: 'rename it, or name an empty schema first in DB_SCHEMAS',
      },
    );
  }
  return new Map(rows.map(({ name, columns }) => [name, columns]));
}

/** In one message: a first start has some two hundred statements, and would wait for the answer of each. */
async function runAll(db: Runner, statements: readonly string[]): Promise<void> {
  if (statements.length > 0) await db.query(statements.join(';\n'));
}

function tableStatements(db: Runner, one: SystemCollection, columns: readonly string[] | undefined): readonly string[] {
  const table = tableOf(db, one.collection);
  const definitions = one.fields.flatMap((field) => {
    const sql = columnDefinition(field);
    return sql ? [{ field, sql }] : [];
  });
  const statements: string[] = [];
  if (columns) {
    for (const { field, sql } of definitions) {
      if (!columns.includes(field.field)) statements.push(`alter table ${table} add column ${sql}`);
    }
  } else {
    const key = primaryField(one);
    const lines = [...definitions.map(({ sql }) => sql), ...(key ? [`primary key (${identifier(key.field)})`] : [])];
    statements.push(`create table ${table} (${lines.join(', ')})`, `comment on table ${table} is ${literal(MARK)}`);
  }
  for (const { field } of definitions) {
    if (field.unique) statements.push(uniqueIndex(db, one.collection, [field.field], field.caseInsensitive === true));
    if (field.references && (field.references.constraint !== false || field.references.alias)) {
      const key = primaryField(one)?.field;
      statements.push(index(db, one.collection, [field.field], key === undefined ? [field.field] : [field.field, key]));
    }
  }
  for (const fields of one.unique ?? []) statements.push(uniqueIndex(db, one.collection, fields, false));
  for (const fields of one.indexes ?? []) statements.push(index(db, one.collection, fields, fields));
  return statements;
}

function uniqueIndex(db: Runner, collection: string, fields: readonly string[], anyCase: boolean): string {
  const columns = fields.map((field) => (anyCase ? `lower(${identifier(field)})` : identifier(field)));
  const name = identifier(objectName(collection, ...fields, 'unique'));
  return `create unique index if not exists ${name} on ${tableOf(db, collection)} (${columns.join(', ')})`;
}

function index(db: Runner, collection: string, called: readonly string[], fields: readonly string[]): string {
  const name = identifier(objectName(collection, ...called, 'index'));
  const columns = fields.map(identifier).join(', ');
  return `create index if not exists ${name} on ${tableOf(db, collection)} (${columns})`;
}

/** Names of the constraints of these tables, each after its table and a space. */
async function constraintsThere(db: Runner, all: readonly SystemCollection[]): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ at: string }>(
    `select c.relname || ' ' || k.conname as at from pg_constraint k join pg_class c on c.oid = k.conrelid
    join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relname = any($2::text[])`,
    [db.schemas[0], all.map(({ collection }) => collection)],
  );
  return new Set(rows.map(({ at }) => at));
}

function referenceStatements(
  db: Runner,
  one: SystemCollection,
  all: Declarations,
  constraints: ReadonlySet<string>,
): readonly string[] {
  const table = tableOf(db, one.collection);
  return one.fields.flatMap(({ field, references }) => {
    if (!references) return [];
    const name = objectName(one.collection, field, 'foreign');
    const isThere = constraints.has(`${one.collection} ${name}`);
    // An earlier version may have declared one.
    if (references.constraint === false)
      return isThere ? [`alter table ${table} drop constraint ${identifier(name)}`] : [];
    if (isThere) return [];
    const key = primaryField(all.get(references.collection) as SystemCollection)?.field as string;
    return [
      ...(references.onDelete === 'SET NULL'
        ? staleStatements(db, one.collection, field, references.collection, key)
        : []),
      `alter table ${table} add constraint ${identifier(name)} foreign key (${identifier(field)})
      references ${tableOf(db, references.collection)} (${identifier(key)}) on delete ${references.onDelete}`,
    ];
  });
}

/**
 * A field may be older than what it leads to, and have values that lead nowhere. They become what they would be if that had been
 * there and deleted; nobody writes new ones until the constraint is in its place.
 */
function staleStatements(
  db: Runner,
  collection: string,
  field: string,
  related: string,
  key: string,
): readonly string[] {
  const [table, column] = [tableOf(db, collection), identifier(field)];
  return [
    `lock table ${table} in share row exclusive mode`,
    `update ${table} set ${column} = null where ${column} is not null
    and not exists (select from ${tableOf(db, related)} one where one.${identifier(key)} = ${table}.${column})`,
  ];
}
