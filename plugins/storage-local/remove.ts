import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { removeEmptyFolder, syncFolder } from './folders.ts';
import { undefinedIfFileMissing } from './missing-file.ts';
import { removePartialFilesOfObject } from './partial-files.ts';
import { objectFolderOf, VARIANT_GROUPS_FOLDER } from './paths.ts';

/** Removes the object, the folder of its group if that is empty, and partial files of interrupted writes. */
export async function removeLocalObject(root: string, name: string): Promise<void> {
  await removePartialFilesOfObject(root, name);
  const folder = objectFolderOf(root, name);
  const isRemoved = await undefinedIfFileMissing(unlink(join(folder, name)).then(() => true));
  const isGone = folder !== root && (await removeEmptyFolder(folder));
  // Without the sync a crash could bring back the object, which the ledger of orphaned objects does not list any more.
  if (isRemoved) await undefinedIfFileMissing(syncFolder(isGone ? join(root, VARIANT_GROUPS_FOLDER) : folder));
}
