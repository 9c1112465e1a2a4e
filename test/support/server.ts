import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { createLog } from '../../kernel/log.ts';
import { openEmbeddedServer } from '../../plugins/database/embedded/server.ts';

/** A PostgreSQL for one test run. */
export interface TestServer {
  readonly url: string;
  /** Name of the database that services of the run are copied from, once a test has created it. */
  readonly template: string;
  stop(): Promise<void>;
}

/** The server does not outlive the run, so nothing in it has to survive a power failure. Most of a run's time went into that. */
const WITHOUT_DURABILITY = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  // Each of a hundred databases would be looked after in its turn, and none of them lives long enough to gain by it.
  autovacuum: 'off',
  max_connections: '200',
};

/**
 * The server at TEST_DATABASE_URL, else an embedded one in a temporary folder: with the settings that users have, or, where
 * `durable` is false, in memory and without waiting for the disk.
 */
export async function startServer({ durable = true } = {}): Promise<TestServer> {
  const template = `template_${randomBytes(5).toString('hex')}`;
  const configuredUrl = process.env.TEST_DATABASE_URL;
  if (configuredUrl)
    return {
      url: configuredUrl,
      template,
      stop: () => query(configuredUrl, `drop database if exists "${template}" with (force)`),
    };

  const folder = await mkdtemp(join(durable ? tmpdir() : await temporaryFolder(), 'tenon-test-server-'));
  // Root does not run PostgreSQL itself; the user who does must be able to enter.
  await chmod(folder, 0o711);
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const { url, stop } = await startServerIn(folder, durable ? {} : WITHOUT_DURABILITY);
    return {
      url,
      template,
      async stop() {
        // A service that a test left running would keep the server up.
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

/** Starts the embedded PostgreSQL with its data in a folder; it keeps the data when it is stopped. */
export async function startServerIn(folder: string, overrides: Readonly<Record<string, string>> = {}) {
  const log = createLog({ level: 'silent', style: 'raw' });
  const { target, server } = await openEmbeddedServer({ dataPath: folder, log, overrides });
  const { user, password, host, port } = target.client;
  return {
    url: `postgres://${user}:${encodeURIComponent(String(password))}@${host}:${port}/postgres`,
    stop: () => server.stop(),
  };
}

/** A file system in memory, as Linux has it. */
const MEMORY = '/dev/shm';
/** Bytes that have to be free in it; a run uses a fifth of them. */
const ROOM = 2 * 1024 ** 3;

/** In memory where there is room: a new database is three hundred files, which a disk takes many times as long to create and remove. */
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
