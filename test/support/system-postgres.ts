import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, cp, glob, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { unpackDebianPackages } from './debian-packages.ts';
import { findFreePort } from './free-port.ts';
import { until } from './until.ts';

/**
 * A PostgreSQL server whose client programs are there as well: the embedded one has neither pg_dump nor pg_restore, and those of a machine
 * may be older than it.
 */
export interface SystemPostgres {
  readonly url: string;
  /** Folder of pg_dump and pg_restore. */
  readonly programs: string;
  readonly major: number;
  /** The output of pg_dump for a database of the server. */
  dump(database: string, ...args: readonly string[]): Promise<string>;
  stop(): Promise<void>;
}

/** The user that owns no files: PostgreSQL refuses to run as root. */
const UNPRIVILEGED_USER = 65_534;
const MAX_DUMP = 256 * 1024 * 1024;

/** Starts the PostgreSQL of the machine, or that of the Debian package, in a new folder and without durability. */
export async function startSystemPostgres(): Promise<SystemPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'tenon-system-postgres-'));
  const isRoot = process.getuid?.() === 0;
  const account = isRoot ? { uid: UNPRIVILEGED_USER, gid: UNPRIVILEGED_USER } : {};
  if (isRoot) await chown(folder, UNPRIVILEGED_USER, UNPRIVILEGED_USER);
  const { programs, env } = await findPrograms(folder);
  const run = (name: string, args: readonly string[]) =>
    promisify(execFile)(join(programs, name), [...args], {
      ...account,
      cwd: '/',
      env,
      maxBuffer: MAX_DUMP,
    });
  const data = join(folder, 'data');
  await run('initdb', ['-D', data, '-U', 'postgres', '--auth=trust', '--no-sync', '--encoding=UTF8', '--locale=C']);
  const port = await findFreePort();
  const settings = [
    ...['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off', 'full_page_writes=off'],
    ...['synchronous_commit=off', 'max_connections=100', 'autovacuum=off'],
  ].flatMap((setting) => ['-c', setting]);
  const server = spawn(join(programs, 'postgres'), ['-D', data, '-p', String(port), ...settings], {
    ...account,
    cwd: '/',
    env,
    stdio: 'ignore',
  });
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  await until(() => answers(url));
  const { stdout } = await run('pg_dump', ['--version']);
  return {
    url,
    programs,
    major: Number(/\d+/.exec(stdout)?.[0]),
    async dump(database, ...args) {
      const target = new URL(url);
      target.pathname = `/${database}`;
      const { stdout: text } = await run('pg_dump', [...args, `--dbname=${target.href}`]);
      // A random word of each dump.
      return text.replaceAll(/^\\(un)?restrict .*$/gm, '');
    },
    async stop() {
      const ended = once(server, 'close');
      server.kill('SIGQUIT');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface FoundPrograms {
  readonly programs: string;
  readonly env: Readonly<Record<string, string>>;
}

async function findPrograms(folder: string): Promise<FoundPrograms> {
  for await (const path of glob('/usr/lib/postgresql/*/bin/initdb')) return { programs: join(path, '..'), env: {} };
  const { root, libraryPath } = await unpackDebianPackages({
    names: ['postgresql'],
    folder: '.postgresql',
    remedy: 'install PostgreSQL with its client programs into /usr/lib/postgresql/<version>.',
  });
  // The other user may be unable to enter the folder of this repository.
  const copy = join(folder, 'programs');
  await cp(root, copy, { recursive: true, verbatimSymlinks: true });
  for await (const path of glob(join(copy, 'usr/lib/postgresql/*/bin/initdb')))
    return { programs: join(path, '..'), env: { LD_LIBRARY_PATH: libraryPath.replaceAll(root, copy) } };
  throw new Error('the Debian package postgresql has no initdb');
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  return client
    .connect()
    .then(() => true)
    .catch(() => false)
    .finally(() => client.end().catch(() => {}));
}
