import { createHash } from 'node:crypto';
import { chown, cp, lstat, mkdir, readlink, realpath, rename, rm, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '#kernel';
import { Remediable } from '../connect-failure.ts';
import { type Account, finished, may, serverAccount } from './account.ts';
import { type Binaries, program } from './binaries.ts';

/** Where the server's files are and who runs it. */
export interface Place {
  readonly account: Account | undefined;
  readonly binaries: Binaries;
  /** The cluster's real folder; it may not exist yet. */
  readonly cluster: string;
}

/** Outside of what only root may enter: files of servers that root has started. */
const SHARED = '/var/lib/tenon';

/**
 * The cluster lies in the data folder, and the programs in `node_modules`. Where root starts the service in a folder that
 * the server's user cannot enter, both are kept under /var/lib, and the data folder holds a link.
 */
export async function findPlace(dataPath: string, found: Binaries, log: Log): Promise<Place> {
  const link = join(dataPath, 'postgres');
  const existing = await clusterBehind(link);
  const account = existing ? await ownerOf(existing) : await serverAccount();
  const binaries = await usableBinaries(found, account);
  if (existing) {
    if (!(await may(account, 'x', existing))) {
      throw new Remediable(
        `the database folder ${link} cannot be entered`,
        'start as the user who made it, or correct its owner and rights',
      );
    }
    return { account, binaries, cluster: existing };
  }
  if (account === undefined || (await may(account, 'x', dataPath))) return { account, binaries, cluster: link };
  const cluster = await linkToShared(dataPath, link, account);
  log.info(
    { folder: cluster },
    `only root may enter ${dataPath}: the database is kept in another folder, with a link to it`,
  );
  return { account, binaries, cluster };
}

async function clusterBehind(link: string): Promise<string | undefined> {
  const entry = await lstat(link).catch(() => undefined);
  if (!entry) return undefined;
  try {
    return await realpath(link);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Remediable(
      `the database folder behind ${link} cannot be found (${code})`,
      `bring back ${await readlink(link).catch(() => link)}, or remove ${link} to start with an empty database`,
    );
  }
}

/** Root runs the server as the user whose folder it is; everybody else as themselves. */
async function ownerOf(cluster: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const { uid, gid } = await stat(cluster);
  return uid === 0 ? serverAccount() : { uid, gid };
}

async function usableBinaries(found: Binaries, account: Account | undefined): Promise<Binaries> {
  const works = async (binaries: Binaries) =>
    (await finished(program(binaries, 'postgres'), ['--version'], account)).code === 0 &&
    (await may(account, 'r', join(binaries.folder, 'share', 'postgresql', 'postgres.bki')));
  if (await works(found)) return found;
  if (account) {
    const copied = { ...found, folder: join(SHARED, `server-${found.version}`) };
    if (await works(copied)) return copied;
    await copyWhole(found.folder, copied.folder);
    if (await works(copied)) return copied;
  }
  const { output } = await finished(program(found, 'postgres'), ['--version'], account);
  throw new Remediable(
    `PostgreSQL's programs in ${found.folder} do not run: ${output.trim()}`,
    'install the dependencies again, or set DB_CONNECTION_STRING or DB_HOST to a PostgreSQL of your own',
  );
}

/** Appears under its name only when it is complete, however many processes do this at once. */
async function copyWhole(from: string, to: string): Promise<void> {
  await mkdir(SHARED, { recursive: true, mode: 0o755 });
  const half = `${to}.${process.pid}`;
  await cp(from, half, { recursive: true, verbatimSymlinks: true });
  await rename(half, to).catch(() => rm(half, { recursive: true, force: true }));
}

async function linkToShared(dataPath: string, link: string, account: Account): Promise<string> {
  await mkdir(SHARED, { recursive: true, mode: 0o755 });
  const home = await ownFolder(createHash('sha256').update(dataPath).digest('hex').slice(0, 16), account);
  const cluster = join(home, 'postgres');
  await mkdir(cluster, { mode: 0o700 });
  await chown(cluster, account.uid, account.gid);
  try {
    await symlink(cluster, link);
    return cluster;
  } catch {
    // Another process was first; its folder counts.
    await rm(home, { recursive: true });
    return realpath(link);
  }
}

/** A data folder that was removed and made again must not meet the database of its predecessor. */
async function ownFolder(name: string, account: Account): Promise<string> {
  for (let number = 1; ; number++) {
    const folder = join(SHARED, number === 1 ? name : `${name}-${number}`);
    try {
      await mkdir(folder, { mode: 0o700 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue;
      throw error;
    }
    await chown(folder, account.uid, account.gid);
    return folder;
  }
}
