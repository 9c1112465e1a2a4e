import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import type { StorageObjectStat } from '../storage/contract.ts';
import { undefinedIfFileMissing } from './missing-file.ts';
import { canVariantGroupMatchPrefix, VARIANT_GROUPS_FOLDER, variantGroupOf } from './paths.ts';
import { statLocalObject } from './read.ts';

/** Entries read from a folder at a time, so that no whole listing is held in memory. */
const BATCH = 256;

/** Objects whose names start with `prefix`. If the prefix names a group, only its folder is read. */
export async function* listLocalObjects(root: string, prefix: string): AsyncGenerator<StorageObjectStat> {
  const group = variantGroupOf(prefix);
  if (group !== undefined) return yield* objectsIn(join(root, VARIANT_GROUPS_FOLDER, group), prefix);
  yield* objectsIn(root, prefix);
  for await (const { name } of readFolderEntries(join(root, VARIANT_GROUPS_FOLDER))) {
    if (canVariantGroupMatchPrefix(name, prefix)) yield* objectsIn(join(root, VARIANT_GROUPS_FOLDER, name), prefix);
  }
}

async function* objectsIn(folder: string, prefix: string): AsyncGenerator<StorageObjectStat> {
  for await (const entry of readFolderEntries(folder)) {
    if (entry.isDirectory() || !entry.name.startsWith(prefix)) continue;
    const object = await statLocalObject(join(folder, entry.name), entry.name);
    // `object` is undefined if it was removed after the folder was read.
    if (object) yield object;
  }
}

/** Yields the entries of a folder; nothing if there is no such folder. */
export async function* readFolderEntries(folder: string): AsyncGenerator<Dirent> {
  const names = await undefinedIfFileMissing(opendir(folder, { bufferSize: BATCH }));
  if (names) yield* names;
}
