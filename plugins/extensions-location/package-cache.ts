import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { StorageLocation } from '../storage/contract.ts';
import { archiveObjectName, unpackArchive } from './archive.ts';
import { hashFile, hashFolder } from './checksums.ts';
import type { PublishedPackage } from './published-packages.ts';

/** Unpacked packages on this machine, each in a folder named by the checksum of its archive. */
export interface PackageCache {
  /**
   * The folder with the files of a package, whose checksums have been compared once in this process.
   * @throws Error that says what is wrong and what to do.
   */
  folderOf(one: PublishedPackage): Promise<string>;
  /** Removes what is none of these and was unpacked more than a day ago: another process on this machine may still run what is newer. */
  removeUnused(all: readonly PublishedPackage[], now?: number): Promise<void>;
}

/** Milliseconds. */
const UNUSED_AFTER = 24 * 60 * 60 * 1000;

/** The last part of the folder is the name of the package, as of folders in EXTENSIONS_PATH. */
const folderName = (name: string): string => name.replaceAll('/', '__');

export function createPackageCache(
  root: string,
  location: () => Pick<StorageLocation, 'name' | 'asFile'>,
): PackageCache {
  const checked = new Set<string>();

  async function isIntact(folder: string, { content }: PublishedPackage): Promise<boolean> {
    try {
      return (await hashFolder(folder)) === content;
    } catch {
      return false;
    }
  }

  async function unpack(one: PublishedPackage, parent: string): Promise<void> {
    const { name: place, asFile } = location();
    const found = await asFile(archiveObjectName(one.archive), async (path) => {
      if ((await hashFile(path)) !== one.archive) throw createChecksumError(place);
      const next = join(root, `.new-${randomUUID()}`);
      try {
        const folder = join(next, folderName(one.name));
        await unpackArchive(path, folder);
        if (!(await isIntact(folder, one))) throw createChecksumError(place);
        await moveInto(next, parent);
      } finally {
        await rm(next, { recursive: true, force: true });
      }
      return true;
    });
    if (found) return;
    throw new Error(
      `its archive is not in the storage location ${place}. Check that the location is the same storage in all processes, or publish it again.`,
    );
  }

  return {
    async folderOf(one) {
      const parent = join(root, one.archive);
      const folder = join(parent, folderName(one.name));
      // Another process that shares the folder may have removed what was unused for it.
      if (checked.has(folder) && (await stat(folder).catch(() => undefined))) return folder;
      await mkdir(root, { recursive: true });
      if (!(await isIntact(folder, one))) await unpack(one, parent);
      checked.add(folder);
      return folder;
    },
    async removeUnused(all, now = Date.now()) {
      const used = new Set(all.map(({ archive }) => archive));
      for (const name of await readdir(root).catch(() => [])) {
        if (used.has(name)) continue;
        const about = await stat(join(root, name)).catch(() => undefined);
        if (about && now - about.mtimeMs > UNUSED_AFTER) await rm(join(root, name), { recursive: true, force: true });
      }
    },
  };
}

/** Moves a complete folder to its place at once. What is there already is damaged, or was put there meanwhile by another process. */
async function moveInto(from: string, to: string): Promise<void> {
  for (let left = 3; ; left--) {
    try {
      await rename(from, to);
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (left === 0 || (code !== 'ENOTEMPTY' && code !== 'EEXIST')) throw error;
      const damaged = `${from}-damaged`;
      await rename(to, damaged).catch(() => {});
      await rm(damaged, { recursive: true, force: true });
    }
  }
}

const createChecksumError = (place: string) =>
  new Error(
    `its archive in the storage location ${place} has other bytes than those that were published. Find out who changed it, and publish it again.`,
  );
