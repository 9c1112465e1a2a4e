import pg from 'pg';
import { type FreshDatabase, freshDatabase, serverUrl } from './database.ts';

/** Environment variable with the name of the run's template database. Without it every service runs all migrations. */
export const TEMPLATE = 'TENON_TEST_TEMPLATE';

let template: Promise<string> | undefined;

/**
 * Name of the database that services of this run are copied from; undefined outside of `scripts/test.ts`, which also removes it.
 * The first process that asks creates it by `migrate`; the others wait for it.
 */
export async function templateDatabase(
  migrate: (database: FreshDatabase) => Promise<void>,
): Promise<string | undefined> {
  const name = process.env[TEMPLATE];
  if (!name) return undefined;
  template ??= createOnce(name, migrate);
  return template;
}

async function createOnce(name: string, migrate: (database: FreshDatabase) => Promise<void>): Promise<string> {
  const client = new pg.Client({ connectionString: serverUrl() });
  await client.connect();
  try {
    // The lock belongs to the connection and ends with it.
    await client.query('select pg_advisory_lock(hashtext($1))', [name]);
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
    if (rowCount) return name;
    const database = await freshDatabase('template');
    try {
      await migrate(database);
      // Only a complete database has the name that other processes look for.
      await client.query(`alter database "${database.name}" rename to "${name}"`);
    } catch (error) {
      await database.drop();
      throw error;
    }
    return name;
  } finally {
    await client.end();
  }
}
