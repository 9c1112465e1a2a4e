import { createHash, randomBytes } from 'node:crypto';
import { opendir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readFolderEntries } from './list.ts';
import { undefinedIfFileMissing } from './missing-file.ts';
import { PARTIAL_FILES_FOLDER } from './paths.ts';

/** Characters of a name that leave room for the suffix: file systems allow 255 bytes. */
const MAX_NAME_LENGTH = 200;

/** Milliseconds without a write after which a partial file counts as abandoned: other processes may share the root. */
const ABANDONED_AFTER = 24 * 60 * 60 * 1000;

const partialStem = (name: string): string =>
  name.length <= MAX_NAME_LENGTH ? name : createHash('sha256').update(name).digest('hex');

/** A unique name for the partial file of a write. */
export const createPartialFileName = (name: string): string => `${partialStem(name)}.${randomBytes(8).toString('hex')}`;

/**
 * Removes the partial files of exactly this object. Rejects if their folder is missing: the disk may not be mounted, and the object
 * must stay in the ledger.
 */
export async function removePartialFilesOfObject(root: string, name: string): Promise<void> {
  const begin = `${partialStem(name)}.`;
  for await (const entry of await opendir(join(root, PARTIAL_FILES_FOLDER))) {
    const isOf = entry.name.startsWith(begin) && /^[0-9a-f]{16}$/.test(entry.name.slice(begin.length));
    if (isOf) await rm(join(root, PARTIAL_FILES_FOLDER, entry.name), { force: true });
  }
}

/** Removes partial files of processes that ended while writing. */
export async function removeAbandonedPartialFiles(root: string, now = Date.now()): Promise<void> {
  for await (const entry of readFolderEntries(join(root, PARTIAL_FILES_FOLDER))) {
    const path = join(root, PARTIAL_FILES_FOLDER, entry.name);
    const about = await undefinedIfFileMissing(stat(path));
    if (about?.isFile() && now - about.mtimeMs > ABANDONED_AFTER) await rm(path, { force: true });
  }
}
