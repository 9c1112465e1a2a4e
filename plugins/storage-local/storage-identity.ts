import { randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { StorageIdentity } from '../storage/contract.ts';
import { undefinedIfFileMissing } from './missing-file.ts';
import { PARTIAL_FILES_FOLDER } from './paths.ts';

/** The file with the id of the storage. No object has this name: names of objects do not begin with a dot. */
const IDENTITY_FILE = '.place';

/** Reads the id of the storage folder, which the first process creates. */
export async function readStorageIdentity(root: string): Promise<StorageIdentity> {
  const path = join(root, IDENTITY_FILE);
  const read = async () => (await undefinedIfFileMissing(readFile(path, 'utf8')))?.trim();
  return { id: (await read()) || (await createId(root, path, read)), name: `${hostname()}:${root}` };
}

async function createId(root: string, path: string, read: () => Promise<string | undefined>): Promise<string> {
  const id = randomUUID();
  const draft = join(root, PARTIAL_FILES_FOLDER, `place.${id}`);
  await writeFile(draft, `${id}\n`, { flag: 'wx' });
  try {
    // A link is atomic, and only one process can create it.
    await link(draft, path);
    return id;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return (await read()) ?? id;
  } finally {
    await rm(draft, { force: true });
  }
}
