import { mkdir, mkdtemp, realpath, rmdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import type { Log } from '#kernel';
import { RemediableError } from '../connect-failure.ts';
import type { ConnectionTarget } from '../target.ts';
import { findBinaries } from './binaries.ts';
import { prepareCluster, SUPERUSER } from './cluster.ts';
import { type ClusterLocation, findClusterLocation } from './cluster-location.ts';
import { isAlive, type Postmaster, runningServer } from './running.ts';
import { startServer } from './start.ts';

const DATABASE = 'tenon';
/** Connections name their process: the server's list of them is a moment behind, and processes die without a word. */
const APPLICATION_NAME = `tenon ${process.pid}`;
/** After a crash a server first reads its log: that may take minutes, and cutting it short would only begin it anew. */
const START_TIMEOUT = 240_000;
const STOP_TIMEOUT = 8_000;

export interface EmbeddedServer {
  /** Stops the server unless another process of ours is connected to it. */
  stop(): Promise<void>;
}

/** A PostgreSQL of our own in the data folder: found running, or started, or made and started. */
export async function embeddedServer(options: {
  dataPath: string;
  log: Log;
  /** PostgreSQL settings over those of `start.ts`, for a server that this call starts. */
  overrides?: Readonly<Record<string, string>>;
}): Promise<{ target: ConnectionTarget; server: EmbeddedServer }> {
  const { log, overrides } = options;
  const dataPath = await ensureDataFolder(resolve(options.dataPath));
  const location = await findClusterLocation(dataPath, await findBinaries(), log);
  const password = await prepareCluster(location, dataPath, log);
  const cluster = await realpath(location.cluster);
  const client = (port: number, database: string, application_name: string): pg.ClientConfig => ({
    host: '127.0.0.1',
    port,
    user: SUPERUSER,
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
      // Between our look and our connection another process may have stopped the server.
      if ((await runningServer(cluster))?.status === 'ready' || Date.now() > deadline) throw error;
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
    // A folder that is there already may still be of another user, or on a disk that takes nothing.
    await rmdir(await mkdtemp(join(path, '.probe-')));
    return await realpath(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new RemediableError(
      `the data folder ${path} cannot be made or written to (${code})`,
      'set DATA_PATH to a folder this user may write to',
    );
  }
}

/** Waits for the server that runs, or starts one; of several processes doing this at once one server results. */
async function ensureRunning(
  location: ClusterLocation,
  logFile: string,
  deadline: number,
  overrides?: Readonly<Record<string, string>>,
): Promise<Postmaster> {
  let attempts = 0;
  while (Date.now() < deadline) {
    const running = await runningServer(location.cluster);
    if (running?.status === 'ready') return running;
    if (!running) {
      const failure = await startServer(location, logFile, overrides);
      if (failure !== undefined && !(await runningServer(location.cluster)) && ++attempts >= 3) {
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
    // Made by another process meanwhile.
    if (!['42P04', '23505'].includes((error as { code: string }).code)) throw error;
  } finally {
    await connection.end();
  }
}

async function databaseExists(config: pg.ClientConfig): Promise<boolean> {
  const connection = new pg.Client(config);
  // A server that is stopped at this moment says so to nobody in particular.
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
    if (rows.some(({ name }) => name !== APPLICATION_NAME && isAlive(Number(name.slice('tenon '.length))))) return;
  } catch {
    // Nobody can use what does not answer; below it is stopped if it still lives.
  } finally {
    await connection.end().catch(() => {});
  }
  const isRunning = async () => (await runningServer(cluster))?.pid === pid;
  if (!(await isRunning())) return;
  process.kill(pid, 'SIGINT');
  for (const until = Date.now() + STOP_TIMEOUT; (await isRunning()) && Date.now() < until; ) await wait(20);
}
