import { constants, createWriteStream } from 'node:fs';
import { access, link, mkdtemp, open, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { BackupError } from '../failures.ts';

/** Where an archive is written. */
export interface ArchiveTarget {
  readonly stream: Writable;
  /** A folder for temporary files, on the disk of the target where that is a file. */
  readonly folder: string;
  /** The archive is complete: gives the file its name, after the disk has it. */
  complete(): Promise<void>;
  /** Removes everything temporary. */
  remove(): Promise<void>;
}

/**
 * Opens `path`, or standard output for `-`. Until the archive is complete it stands in a folder beside `path`, so that there is never half
 * a backup under that name. Only this user may read it: it holds password hashes.
 * @throws BackupError where the file exists and `overwrites` is false, and where it cannot be written.
 */
export async function openArchiveTarget(path: string, overwrites: boolean): Promise<ArchiveTarget> {
  if (path === '-') {
    const folder = await mkdtemp(join(tmpdir(), 'tenon-backup-'));
    return { stream: process.stdout, folder, complete: async () => {}, remove: () => removeFolder(folder) };
  }
  const file = resolve(path);
  if (!overwrites && (await exists(file)))
    throw new BackupError(`${file} exists`, 'name another file, or replace it by --overwrite');
  const folder = await mkdtemp(join(dirname(file), `.${basename(file)}-`)).catch((error) => {
    throw new BackupError(
      `${file} cannot be written (${(error as NodeJS.ErrnoException).code})`,
      'name a file in a folder that this user may write to',
      error,
    );
  });
  const partial = join(folder, 'archive');
  return {
    stream: createWriteStream(partial, { flags: 'wx', mode: 0o600 }),
    folder,
    async complete() {
      await sync(partial);
      if (overwrites) await rename(partial, file);
      else await linkNew(partial, file);
      await sync(dirname(file));
    },
    remove: () => removeFolder(folder),
  };
}

const removeFolder = (folder: string) => rm(folder, { recursive: true, force: true });

const exists = (file: string) =>
  access(file, constants.F_OK).then(
    () => true,
    () => false,
  );

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  await handle.sync().finally(() => handle.close());
}

/** A file that another program has made meanwhile is not replaced. */
async function linkNew(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST')
      throw new BackupError(`${to} exists by now`, 'name another file, or replace it by --overwrite');
    // A file system without hard links.
    await rename(from, to);
  }
}
