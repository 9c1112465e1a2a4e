import type { Db, Migration } from '../database/contract.ts';
import { toUnavailableOnDatabaseOutage } from '../database/library.ts';
import type { DisabledPackages } from '../extensions/contract.ts';

const TABLE = 'platform_disabled_extensions';

/** The names of disabled extensions, which all processes on the database leave out. */
export function disabledExtensionsMigration(db: Db): Migration {
  const table = db.own(TABLE);
  return {
    id: '2026-11-27-disabled-extensions',
    up: () => db.ddl(db.sql`create table if not exists ${table} (name text primary key)`),
  };
}

export function createDisabledPackageStore(db: Pick<Db, 'query' | 'write' | 'sql'>): DisabledPackages {
  const table = db.write(TABLE);
  const ALL = db.sql`select name from ${table}`;
  const PUT = db.sql`insert into ${table} (name) values ($1) on conflict do nothing`;
  const REMOVE = db.sql`delete from ${table} where name = $1`;
  const run = async (statement: typeof ALL, params: readonly unknown[]) => {
    try {
      return (await db.query<{ name: string }>(statement, params)).rows;
    } catch (error) {
      throw toUnavailableOnDatabaseOutage(error);
    }
  };
  return {
    list: async () => new Set((await run(ALL, [])).map(({ name }) => name)),
    set: async (name, isDisabled) => void (await run(isDisabled ? PUT : REMOVE, [name])),
  };
}
