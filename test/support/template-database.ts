import pg from 'pg';
import { databaseServerUrl, type FreshDatabase, freshDatabase } from './database.ts';

/** Environment variable with the name of the run's template database. Without it every service runs all migrations. */
export const TEMPLATE_DATABASE_VARIABLE = 'TENON_TEST_TEMPLATE';

let template: Promise<string> | undefined;

/**
 * Returns the name of the migrated database that tests of this run copy; undefined outside of `scripts/test.ts`, which drops it.
 * The first process that needs the database creates it with `migrate`, and other processes wait for that.
 */
export async function ensureTemplateDatabase(
  migrate: (database: FreshDatabase) => Promise<void>,
): Promise<string | undefined> {
  const name = process.env[TEMPLATE_DATABASE_VARIABLE];
  if (!name) return undefined;
  template ??= createOnce(name, migrate);
  return template;
}

async function createOnce(name: string, migrate: (database: FreshDatabase) => Promise<void>): Promise<string> {
  const client = new pg.Client({ connectionString: databaseServerUrl() });
  await client.connect();
  try {
    // The advisory lock is released when the connection ends.
    await client.query('select pg_advisory_lock(hashtext($1))', [name]);
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
    if (rowCount) return name;
    const database = await freshDatabase('template');
    try {
      await migrate(database);
      // Renamed only when it is complete, since other processes look for this name.
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
