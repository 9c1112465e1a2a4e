import { randomBytes } from 'node:crypto';
import { chown, link, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Log } from '#kernel';
import { Remediable } from '../connect-failure.ts';
import { finished } from './account.ts';
import { program } from './binaries.ts';
import type { Place } from './place.ts';
import { isAlive } from './running.ts';

export const USER = 'tenon';

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Makes the cluster where there is none, and answers its password. Any number of processes may do this at once. */
export async function prepareCluster(place: Place, dataPath: string, log: Log): Promise<string> {
  const made = await exists(join(place.cluster, 'PG_VERSION'));
  const password = await passwordIn(join(dataPath, 'postgres.password'), made);
  if (!made) {
    log.info({ folder: place.cluster }, 'making a database: this takes some seconds, once');
    await initialise(place, password);
  }
  return password;
}

/** The first process to put a password in place decides it for all. */
async function passwordIn(path: string, made: boolean): Promise<string> {
  const kept = await readFile(path, 'utf8').catch(() => undefined);
  if (kept) return kept.trim();
  if (made) {
    throw new Remediable(
      `the password of the database is missing (${path})`,
      'bring that file back, or remove the folder beside it to start with an empty database',
    );
  }
  const half = `${path}.${process.pid}`;
  await writeFile(half, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 });
  await link(half, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await rm(half);
  return (await readFile(path, 'utf8')).trim();
}

/** Made under another name and put in place by one rename, so that a half-made cluster is never taken for one. */
async function initialise({ account, binaries, cluster }: Place, password: string): Promise<void> {
  const home = dirname(cluster);
  await removeLeftovers(home);
  const half = join(home, `postgres.new-${process.pid}`);
  const secret = `${half}.password`;
  try {
    await mkdir(half, { mode: 0o700 });
    await writeFile(secret, password, { mode: 0o600 });
    if (account) for (const path of [half, secret]) await chown(path, account.uid, account.gid);
    const { code, output } = await finished(
      program(binaries, 'initdb'),
      [
        `--pgdata=${half}`,
        `--username=${USER}`,
        `--pwfile=${secret}`,
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
      throw new Remediable(
        `the database could not be made: ${output.trim()}`,
        'see the reason, or set DB_CONNECTION_STRING or DB_HOST',
      );
    await rename(half, cluster).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(half, { recursive: true, force: true });
    await rm(secret, { force: true });
  }
}

async function removeLeftovers(home: string): Promise<void> {
  for (const name of await readdir(home)) {
    const pid = /^postgres\.new-(\d+)/.exec(name)?.[1];
    if (pid && !isAlive(Number(pid))) await rm(join(home, name), { recursive: true, force: true });
  }
}
