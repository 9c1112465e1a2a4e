import { randomBytes } from 'node:crypto';
import { chown, link, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Log } from '#kernel';
import { RemediableError } from '../connect-error-remedies.ts';
import { postgresProgramPath } from './binaries.ts';
import type { PostgresClusterLocation } from './cluster-location.ts';
import { isProcessAlive } from './postmaster.ts';
import { runProgram } from './system-account.ts';

export const EMBEDDED_POSTGRES_SUPERUSER = 'tenon';

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/**
 * Creates the PostgreSQL cluster by `initdb` where there is none, and answers its password. Several processes may do this at the
 * same time.
 */
export async function preparePostgresCluster(
  location: PostgresClusterLocation,
  dataPath: string,
  log: Log,
): Promise<string> {
  const clusterExists = await exists(join(location.cluster, 'PG_VERSION'));
  const password = await readOrCreatePassword(join(dataPath, 'postgres.password'), clusterExists);
  if (!clusterExists) {
    log.info({ folder: location.cluster }, 'creating a database cluster: this takes some seconds, once');
    await initializeCluster(location, password);
  }
  return password;
}

/** The first process that links its password file into place decides the password for all processes. */
async function readOrCreatePassword(path: string, clusterExists: boolean): Promise<string> {
  const stored = await readFile(path, 'utf8').catch(() => undefined);
  if (stored) return stored.trim();
  if (clusterExists) {
    throw new RemediableError(
      `the password of the database is missing (${path})`,
      'restore that file, or remove the folder beside it to start with an empty database',
    );
  }
  const temporaryPath = `${path}.${process.pid}`;
  await writeFile(temporaryPath, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 });
  await link(temporaryPath, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await rm(temporaryPath);
  return (await readFile(path, 'utf8')).trim();
}

/** Runs `initdb` in a temporary folder and renames it, so that no process ever opens an incomplete cluster. */
async function initializeCluster(
  { account, binaries, cluster }: PostgresClusterLocation,
  password: string,
): Promise<void> {
  const home = dirname(cluster);
  await removeLeftovers(home);
  const temporaryFolder = join(home, `postgres.new-${process.pid}`);
  const passwordFile = `${temporaryFolder}.password`;
  try {
    await mkdir(temporaryFolder, { mode: 0o700 });
    await writeFile(passwordFile, password, { mode: 0o600 });
    if (account) for (const path of [temporaryFolder, passwordFile]) await chown(path, account.uid, account.gid);
    const { code, output } = await runProgram(
      postgresProgramPath(binaries, 'initdb'),
      [
        `--pgdata=${temporaryFolder}`,
        `--username=${EMBEDDED_POSTGRES_SUPERUSER}`,
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        // PostgreSQL's own C.UTF-8 is the same on every machine, whatever locales the system has.
        '--locale=C',
        '--locale-provider=builtin',
        '--builtin-locale=C.UTF-8',
        '--set=timezone=UTC',
      ],
      account,
    );
    if (code !== 0)
      throw new RemediableError(
        `the database cluster could not be created: ${output.trim()}`,
        'see the reason, or set DB_CONNECTION_STRING or DB_HOST',
      );
    await rename(temporaryFolder, cluster).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(temporaryFolder, { recursive: true, force: true });
    await rm(passwordFile, { force: true });
  }
}

async function removeLeftovers(home: string): Promise<void> {
  for (const name of await readdir(home)) {
    const pid = /^postgres\.new-(\d+)/.exec(name)?.[1];
    if (pid && !isProcessAlive(Number(pid))) await rm(join(home, name), { recursive: true, force: true });
  }
}
