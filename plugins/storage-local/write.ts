import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder, removeEmptyFolder, syncFolder } from './folders.ts';
import { createPartialFileName } from './partial-files.ts';
import { objectFolderOf, PARTIAL_FILES_FOLDER, VARIANT_GROUPS_FOLDER } from './paths.ts';

/** Attempts to move a file into the folder of a group while another process empties and removes it. */
const ATTEMPTS = 20;

/**
 * Writes a partial file, syncs it, then renames it: readers find the whole object or nothing. An interrupted write leaves a partial
 * file, which `remove` deletes.
 */
export async function writeLocalObject(root: string, name: string, source: AsyncIterable<Uint8Array>): Promise<number> {
  const partial = join(root, PARTIAL_FILES_FOLDER, createPartialFileName(name));
  try {
    const written = await writeFile(partial, source);
    await moveIntoPlace(root, partial, name);
    return written;
  } catch (error) {
    // The caller gets the error of the write, not that of this removal.
    await rm(partial, { force: true }).catch(() => {});
    throw error;
  }
}

async function writeFile(path: string, source: AsyncIterable<Uint8Array>): Promise<number> {
  const file = await open(path, 'wx');
  try {
    let written = 0;
    for await (const chunk of source) {
      await writeChunk(file, chunk);
      written += chunk.byteLength;
    }
    await file.datasync();
    return written;
  } finally {
    await file.close();
  }
}

/** Writes a chunk and repeats short writes: a full disk may take a part of the chunk. */
async function writeChunk(file: FileHandle, chunk: Uint8Array): Promise<void> {
  let at = 0;
  while (at < chunk.byteLength) at += (await file.write(chunk, at)).bytesWritten;
}

async function moveIntoPlace(root: string, partial: string, name: string): Promise<void> {
  const folder = objectFolderOf(root, name);
  const target = join(folder, name);
  let isInPlace = false;
  try {
    const isNew = await (folder === root ? renameInto(partial, target) : moveIntoGroup(partial, target, folder));
    isInPlace = true;
    await syncFolder(folder);
    if (isNew) await syncFolder(join(root, VARIANT_GROUPS_FOLDER));
  } catch (error) {
    if (isInPlace) await rm(target, { force: true }).catch(() => {});
    if (folder !== root) await removeEmptyFolder(folder).catch(() => {});
    throw error;
  }
}

async function renameInto(partial: string, target: string): Promise<false> {
  await rename(partial, target);
  return false;
}

/** Moves a file into the folder of its group; true if the folder had to be created. */
async function moveIntoGroup(partial: string, target: string, folder: string): Promise<boolean> {
  let isNew = false;
  for (let attempt = 1; ; attempt++) {
    try {
      await rename(partial, target);
      return isNew;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempt === ATTEMPTS) throw error;
      isNew = (await makeFolder(folder)) || isNew;
    }
  }
}
