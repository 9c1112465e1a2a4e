import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder, removeEmpty, syncFolder } from './folders.ts';
import { partialName } from './partial.ts';
import { folderOf, GROUPS, PARTIAL } from './places.ts';

/** Attempts to put a file into the folder of a group that somebody else empties, and so removes, at the same moment. */
const ATTEMPTS = 20;

/**
 * Bytes to a file beside, that to the disk, then its name: whoever opens the object finds all of it or nothing. What is
 * interrupted leaves a partial file, which `remove` finds.
 */
export async function writeObject(root: string, name: string, source: AsyncIterable<Uint8Array>): Promise<number> {
  const partial = join(root, PARTIAL, partialName(name));
  try {
    const written = await writeFile(partial, source);
    await put(root, partial, name);
    return written;
  } catch (error) {
    // What counts is why it failed, not that the rest cannot be removed for the same reason.
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

/** A full disk may take a part. */
async function writeChunk(file: FileHandle, chunk: Uint8Array): Promise<void> {
  let at = 0;
  while (at < chunk.byteLength) at += (await file.write(chunk, at)).bytesWritten;
}

async function put(root: string, partial: string, name: string): Promise<void> {
  const folder = folderOf(root, name);
  const target = join(folder, name);
  let isPut = false;
  try {
    const isNew = await (folder === root ? move(partial, target) : moveIntoGroup(partial, target, folder));
    isPut = true;
    await syncFolder(folder);
    if (isNew) await syncFolder(join(root, GROUPS));
  } catch (error) {
    if (isPut) await rm(target, { force: true }).catch(() => {});
    if (folder !== root) await removeEmpty(folder).catch(() => {});
    throw error;
  }
}

async function move(partial: string, target: string): Promise<false> {
  await rename(partial, target);
  return false;
}

/** Answers whether the group's folder had to be made. */
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
