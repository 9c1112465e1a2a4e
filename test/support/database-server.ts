import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { createLog } from '../../kernel/log.ts';
import { openEmbeddedPostgresServer } from '../../plugins/database/embedded/server.ts';

/** The PostgreSQL server of one test run. */
export interface TestDatabaseServer {
  readonly url: string;
  /** Name of the migrated database that tests of the run copy. The first test that needs it creates it. */
  readonly template: string;
  stop(): Promise<void>;
}

/** Server settings without durability, which make test runs several times faster: no data has to survive the run. */
const WITHOUT_DURABILITY = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  // Autovacuum would work on a hundred databases, none of which lives long enough to gain by it.
  autovacuum: 'off',
  max_connections: '200',
};

/**
 * Uses the server at TEST_DATABASE_URL, else starts an embedded one in a temporary folder: with default settings, or, where
 * `durable` is false, in memory and without durability.
 */
export async function startDatabaseServer({ durable = true } = {}): Promise<TestDatabaseServer> {
  const template = `template_${randomBytes(5).toString('hex')}`;
  const configuredUrl = process.env.TEST_DATABASE_URL;
  if (configuredUrl)
    return {
      url: configuredUrl,
      template,
      stop: () => query(configuredUrl, `drop database if exists "${template}" with (force)`),
    };

  const folder = await mkdtemp(join(durable ? tmpdir() : await temporaryFolder(), 'tenon-test-server-'));
  // For root, PostgreSQL runs as another user, who has to enter the folder.
  await chmod(folder, 0o711);
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const { url, stop } = await startDatabaseServerIn(folder, durable ? {} : WITHOUT_DURABILITY);
    if (!durable) await makeSignInsCheap(url);
    return {
      url,
      template,
      async stop() {
        // Terminates connections of services that a test left running, which would keep the server from stopping.
        await query(
          url,
          'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and usename = current_user',
        ).catch(() => {});
        await stop();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Both sides of a connection compute a key from the password, with 4,096 rounds by default. Tests open thousands of connections. */
async function makeSignInsCheap(url: string): Promise<void> {
  const { username, password } = new URL(url);
  const literal = pg.escapeLiteral(decodeURIComponent(password));
  await query(url, `set scram_iterations = 1; alter role ${pg.escapeIdentifier(username)} password ${literal}`);
}

/** Starts the embedded PostgreSQL with its data in a folder. The data stays when the server stops. */
export async function startDatabaseServerIn(folder: string, overrides: Readonly<Record<string, string>> = {}) {
  const log = createLog({ level: 'silent', style: 'raw' });
  const { target, server } = await openEmbeddedPostgresServer({ dataPath: folder, log, overrides });
  const { user, password, host, port } = target.client;
  return {
    url: `postgres://${user}:${encodeURIComponent(String(password))}@${host}:${port}/postgres`,
    stop: () => server.stop(),
  };
}

/** The in-memory file system of Linux. */
const MEMORY = '/dev/shm';
/** Bytes that must be free in /dev/shm; a test run uses a fifth of them. */
const ROOM = 2 * 1024 ** 3;

/** The in-memory file system if it has room, else the temporary folder: each database is 300 files, which disks create slowly. */
async function temporaryFolder(): Promise<string> {
  const free = await statfs(MEMORY).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  return Math.min(free, process.availableMemory()) >= ROOM ? MEMORY : tmpdir();
}

async function query(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
