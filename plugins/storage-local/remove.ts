import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { removeEmpty, syncFolder } from './folders.ts';
import { ifPresent } from './if-present.ts';
import { removePartials } from './partial.ts';
import { folderOf, GROUPS } from './paths.ts';

/** Removes the object, the folder of its group if that is empty, and partial files of interrupted writes. */
export async function removeObject(root: string, name: string): Promise<void> {
  await removePartials(root, name);
  const folder = folderOf(root, name);
  const isRemoved = await ifPresent(unlink(join(folder, name)).then(() => true));
  const isGone = folder !== root && (await removeEmpty(folder));
  // Without the sync a crash could bring back the object, which the ledger of orphaned objects does not list any more.
  if (isRemoved) await ifPresent(syncFolder(isGone ? join(root, GROUPS) : folder));
}
