import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import pg from 'pg';

/** A database for one test on the server of the test run. */
export interface FreshDatabase {
  readonly url: string;
  readonly name: string;
  query<Row = Record<string, unknown>>(text: string, params?: readonly unknown[]): Promise<Row[]>;
  /** Closes the connections of `query` and drops the database, even while other clients are connected. */
  drop(): Promise<void>;
}

/** URL of the database server of the test run, from TEST_DATABASE_URL. */
export function databaseServerUrl(): string {
  const url = process.env.TEST_DATABASE_URL;
  if (url) return url;
  throw new Error(
    'no database server: run the tests by `npm test`, or set TEST_DATABASE_URL to one where databases may be created',
  );
}

interface FreshDatabaseOptions {
  /** Another database of the server that is copied, to which no client may be connected. */
  readonly template?: string;
  /** URL of another server than that of the test run. */
  readonly server?: string;
}

/** Creates an empty database, or a copy. */
export async function freshDatabase(name = 'test', options: FreshDatabaseOptions = {}): Promise<FreshDatabase> {
  const { server = databaseServerUrl() } = options;
  const unique = `${name.toLowerCase().replace(/\W/g, '_').slice(0, 40)}_${randomBytes(5).toString('hex')}`;
  const template = options.template ? ` template "${options.template}"` : '';
  const strategy = options.server ? '' : await copyStrategy();
  await queryServer(`create database "${unique}"${template}${strategy}`, server);
  const url = databaseUrl(unique, server);
  let pool: pg.Pool | undefined;
  return {
    url,
    name: unique,
    async query<Row>(text: string, params: readonly unknown[] = []) {
      if (!pool) {
        pool = new pg.Pool({ connectionString: url, max: 4 });
        // `drop` terminates connections, which the pool reports as an error.
        pool.on('error', () => {});
      }
      return (await pool.query(text, [...params])).rows as Row[];
    },
    async drop() {
      await pool?.end();
      pool = undefined;
      await queryServer(`drop database if exists "${unique}" with (force)`, server);
    },
  };
}

/** Runs all statements of an SQL file in the database at `url`. */
export async function runSqlFile(url: string, file: string | URL): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(await readFile(file, 'utf8'));
  } finally {
    await client.end();
  }
}

let strategy: Promise<string> | undefined;

/** Option of `create database`: copying files is four times faster than writing WAL, but only on a server without fsync. */
function copyStrategy(): Promise<string> {
  strategy ??= queryServer(`select 1 where current_setting('fsync') = 'off'`).then(({ rowCount }) =>
    rowCount ? ' strategy file_copy' : '',
  );
  return strategy;
}

function databaseUrl(database: string, server: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

async function queryServer(statement: string, server = databaseServerUrl()): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    return await client.query(statement);
  } finally {
    await client.end();
  }
}
