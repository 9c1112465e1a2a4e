import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from './absent.ts';
import { removeEmpty, syncFolder } from './folders.ts';
import { removePartials } from './partial.ts';
import { folderOf, GROUPS } from './places.ts';

/** Removes the object, its group's folder with the last of a group, and what interrupted writes of it left. */
export async function removeObject(root: string, name: string): Promise<void> {
  await removePartials(root, name);
  const folder = folderOf(root, name);
  const isRemoved = await ifThere(unlink(join(folder, name)).then(() => true));
  const isGone = folder !== root && (await removeEmpty(folder));
  // Else a crash might bring back what nobody knows of any more.
  if (isRemoved) await ifThere(syncFolder(isGone ? join(root, GROUPS) : folder));
}
