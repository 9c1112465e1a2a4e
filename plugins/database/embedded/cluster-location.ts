import { createHash } from 'node:crypto';
import { chown, cp, lstat, mkdir, readlink, realpath, rename, rm, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '#kernel';
import { RemediableError } from '../connect-error-remedies.ts';
import { type PostgresBinaries, postgresProgramPath } from './binaries.ts';
import { canAccountAccessPath, findServerAccount, type OperatingSystemAccount, runProgram } from './system-account.ts';

/** The folders of the embedded server and the user that runs it. */
export interface PostgresClusterLocation {
  readonly account: OperatingSystemAccount | undefined;
  readonly binaries: PostgresBinaries;
  /** The cluster's real folder; it may not exist yet. */
  readonly cluster: string;
}

/** Folder for the files of servers that root starts; the user that runs PostgreSQL may enter it. */
const SHARED_FOLDER = '/var/lib/tenon';

/** Whether the data folder has a cluster, or a link to one. */
export const hasPostgresCluster = (dataPath: string): Promise<boolean> =>
  lstat(join(dataPath, 'postgres')).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  );

/**
 * The cluster is in the data folder, and the programs are in `node_modules`. Where root starts the service in a folder
 * that the server's user cannot enter, both are kept under /var/lib/tenon, and the data folder holds a symbolic link.
 */
export async function findPostgresClusterLocation(
  dataPath: string,
  found: PostgresBinaries,
  log: Log,
): Promise<PostgresClusterLocation> {
  const link = join(dataPath, 'postgres');
  const existing = await resolveCluster(link);
  const account = existing ? await ownerOf(existing) : await findServerAccount();
  const binaries = await findUsableBinaries(found, account);
  if (existing) {
    if (!(await canAccountAccessPath(account, 'x', existing))) {
      throw new RemediableError(
        `the database folder ${link} cannot be entered`,
        'start as the user that created it, or correct its owner and permissions',
      );
    }
    return { account, binaries, cluster: existing };
  }
  if (account === undefined || (await canAccountAccessPath(account, 'x', dataPath)))
    return { account, binaries, cluster: link };
  const cluster = await createSharedCluster(dataPath, link, account);
  log.info(
    { folder: cluster },
    `only root may enter ${dataPath}: the database is kept in another folder, with a link to it`,
  );
  return { account, binaries, cluster };
}

async function resolveCluster(link: string): Promise<string | undefined> {
  const entry = await lstat(link).catch(() => undefined);
  if (!entry) return undefined;
  try {
    return await realpath(link);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new RemediableError(
      `the database folder behind ${link} cannot be found (${code})`,
      `bring back ${await readlink(link).catch(() => link)}, or remove ${link} to start with an empty database`,
    );
  }
}

/** Root runs the server as the owner of the folder; every other user as itself. */
async function ownerOf(cluster: string): Promise<OperatingSystemAccount | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const { uid, gid } = await stat(cluster);
  return uid === 0 ? findServerAccount() : { uid, gid };
}

async function findUsableBinaries(
  found: PostgresBinaries,
  account: OperatingSystemAccount | undefined,
): Promise<PostgresBinaries> {
  const areUsable = async (binaries: PostgresBinaries) =>
    (await runProgram(postgresProgramPath(binaries, 'postgres'), ['--version'], account)).code === 0 &&
    (await canAccountAccessPath(account, 'r', join(binaries.folder, 'share', 'postgresql', 'postgres.bki')));
  if (await areUsable(found)) return found;
  if (account) {
    const copied = { ...found, folder: join(SHARED_FOLDER, `server-${found.version}`) };
    if (await areUsable(copied)) return copied;
    await copyFolder(found.folder, copied.folder);
    if (await areUsable(copied)) return copied;
  }
  const { output } = await runProgram(postgresProgramPath(found, 'postgres'), ['--version'], account);
  throw new RemediableError(
    `PostgreSQL's programs in ${found.folder} do not run: ${output.trim()}`,
    'install the dependencies again, or set DB_CONNECTION_STRING or DB_HOST to a PostgreSQL of your own',
  );
}

/**
 * Copies to a temporary folder and renames it: several processes may do this at once, and none sees an incomplete copy.
 */
async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(SHARED_FOLDER, { recursive: true, mode: 0o755 });
  const temporaryFolder = `${to}.${process.pid}`;
  await cp(from, temporaryFolder, { recursive: true, verbatimSymlinks: true });
  await rename(temporaryFolder, to).catch(() => rm(temporaryFolder, { recursive: true, force: true }));
}

async function createSharedCluster(dataPath: string, link: string, account: OperatingSystemAccount): Promise<string> {
  await mkdir(SHARED_FOLDER, { recursive: true, mode: 0o755 });
  const home = await createUniqueFolder(createHash('sha256').update(dataPath).digest('hex').slice(0, 16), account);
  const cluster = join(home, 'postgres');
  await mkdir(cluster, { mode: 0o700 });
  await chown(cluster, account.uid, account.gid);
  try {
    await symlink(cluster, link);
    return cluster;
  } catch {
    // Another process has created the link: its folder is used.
    await rm(home, { recursive: true });
    return realpath(link);
  }
}

/** A data folder that was removed and created again must not get the database of the removed one. */
async function createUniqueFolder(name: string, account: OperatingSystemAccount): Promise<string> {
  for (let number = 1; ; number++) {
    const folder = join(SHARED_FOLDER, number === 1 ? name : `${name}-${number}`);
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
