import { mkdir, mkdtemp, realpath, rmdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import type { Log } from '#kernel';
import { RemediableError } from '../connect-error-remedies.ts';
import type { ConnectionTarget } from '../connection-target.ts';
import { findPostgresBinaries } from './binaries.ts';
import { EMBEDDED_POSTGRES_SUPERUSER, preparePostgresCluster } from './cluster.ts';
import { findPostgresClusterLocation, type PostgresClusterLocation } from './cluster-location.ts';
import { findRunningPostgres, isProcessAlive, type PostmasterPidFileContents } from './postmaster.ts';
import { startPostgresServer } from './start.ts';

const DATABASE = 'tenon';
/**
 * Names the process of a connection, so that `stop` can tell connections of running processes from those of killed
 * ones.
 */
const APPLICATION_NAME = `tenon ${process.pid}`;
/** Milliseconds. After a crash PostgreSQL replays its log for minutes; a restart would only begin the replay again. */
const START_TIMEOUT = 240_000;
/** Milliseconds that `stop` waits for the server to end. */
const STOP_TIMEOUT = 8_000;

export interface EmbeddedPostgresServer {
  /** Stops the server unless another process of this service is connected to it. */
  stop(): Promise<void>;
}

/** Connects to the PostgreSQL of the data folder; creates and starts it where needed. */
export async function openEmbeddedPostgresServer(options: {
  dataPath: string;
  log: Log;
  /** PostgreSQL settings that replace those of `start.ts`, for a server that this call starts. */
  overrides?: Readonly<Record<string, string>>;
}): Promise<{ target: ConnectionTarget; server: EmbeddedPostgresServer }> {
  const { log, overrides } = options;
  const dataPath = await ensureDataFolder(resolve(options.dataPath));
  const location = await findPostgresClusterLocation(dataPath, await findPostgresBinaries(), log);
  const password = await preparePostgresCluster(location, dataPath, log);
  const cluster = await realpath(location.cluster);
  const client = (port: number, database: string, application_name: string): pg.ClientConfig => ({
    host: '127.0.0.1',
    port,
    user: EMBEDDED_POSTGRES_SUPERUSER,
    password,
    database,
    application_name,
    keepAlive: true,
  });

  const deadline = Date.now() + START_TIMEOUT;
  for (;;) {
    const { pid, port } = await ensureRunning(
      { ...location, cluster },
      join(dataPath, 'postgres.log'),
      deadline,
      overrides,
    );
    try {
      await ensureDatabase((database) => client(port, database, APPLICATION_NAME));
    } catch (error) {
      // Another process may have stopped the server after it was found running.
      if ((await findRunningPostgres(cluster))?.status === 'ready' || Date.now() > deadline) throw error;
      continue;
    }
    return {
      target: { client: client(port, DATABASE, APPLICATION_NAME), label: `in ${join(dataPath, 'postgres')}` },
      server: { stop: () => stopUnlessShared(pid, cluster, client(port, DATABASE, 'closing')) },
    };
  }
}

async function ensureDataFolder(path: string): Promise<string> {
  try {
    await mkdir(path, { recursive: true });
    // An existing folder may belong to another user, or be on a read-only disk.
    await rmdir(await mkdtemp(join(path, '.probe-')));
    return await realpath(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new RemediableError(
      `the data folder ${path} cannot be created or written to (${code})`,
      'set DATA_PATH to a folder this user may write to',
    );
  }
}

/** Waits for the running server, or starts one. Several processes that do this at once end up with one server. */
async function ensureRunning(
  location: PostgresClusterLocation,
  logFile: string,
  deadline: number,
  overrides?: Readonly<Record<string, string>>,
): Promise<PostmasterPidFileContents> {
  let attempts = 0;
  while (Date.now() < deadline) {
    const running = await findRunningPostgres(location.cluster);
    if (running?.status === 'ready') return running;
    if (!running) {
      const failure = await startPostgresServer(location, logFile, overrides);
      if (failure !== undefined && !(await findRunningPostgres(location.cluster)) && ++attempts >= 3) {
        throw new RemediableError(`PostgreSQL did not start:\n${failure}`, `see ${logFile}`);
      }
    }
    await wait(20);
  }
  throw new RemediableError('PostgreSQL did not become ready in time', `see ${logFile}`);
}

async function ensureDatabase(client: (database: string) => pg.ClientConfig): Promise<void> {
  if ((await databaseExists(client(DATABASE))) === true) return;
  const connection = new pg.Client(client('postgres'));
  connection.on('error', () => {});
  await connection.connect();
  try {
    await connection.query(`create database ${DATABASE}`);
  } catch (error) {
    // Another process has created it.
    if (!['42P04', '23505'].includes((error as { code: string }).code)) throw error;
  } finally {
    await connection.end();
  }
}

async function databaseExists(config: pg.ClientConfig): Promise<boolean> {
  const connection = new pg.Client(config);
  // A server that stops at this moment emits an error outside of any query.
  connection.on('error', () => {});
  try {
    await connection.connect();
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === '3D000') return false;
    throw error;
  } finally {
    await connection.end().catch(() => {});
  }
}

async function stopUnlessShared(pid: number, cluster: string, config: pg.ClientConfig): Promise<void> {
  const connection = new pg.Client(config);
  connection.on('error', () => {});
  try {
    await connection.connect();
    const { rows } = await connection.query<{ name: string }>(
      `select distinct application_name as name from pg_stat_activity where application_name like 'tenon %'`,
    );
    if (rows.some(({ name }) => name !== APPLICATION_NAME && isProcessAlive(Number(name.slice('tenon '.length)))))
      return;
  } catch {
    // A server that does not answer is of no use to any process; it is stopped below if it still runs.
  } finally {
    await connection.end().catch(() => {});
  }
  const isRunning = async () => (await findRunningPostgres(cluster))?.pid === pid;
  if (!(await isRunning())) return;
  process.kill(pid, 'SIGINT');
  for (const until = Date.now() + STOP_TIMEOUT; (await isRunning()) && Date.now() < until; ) await wait(20);
}
