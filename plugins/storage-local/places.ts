import { join } from 'node:path';

/** Where writes that are not complete yet have their bytes: on the same file system, so that a rename is enough. */
export const PARTIAL = '.partial';
/** Where objects are that were made of others. */
export const GROUPS = '.groups';

/** What is before this in an object's name is the name of its group. */
const SEPARATOR = '__';

/** The group of an object, or of all objects whose names begin so; undefined where it has none (or it is not told yet). */
export function groupOf(name: string): string | undefined {
  const end = name.indexOf(SEPARATOR, 1);
  return end < 0 ? undefined : name.slice(0, end);
}

/** May objects of this group have names that begin so? */
export const mayHold = (group: string, prefix: string): boolean => `${group}${SEPARATOR}`.startsWith(prefix);

/**
 * The folder of an object. `picture__1f3a.webp` is in a folder with all others of `picture`, so that finding these does not
 * take reading a folder of a million names. All the rest is in the root itself, where people look for it. No name of an object
 * begins with a dot, so none is that of a folder.
 */
export function folderOf(root: string, name: string): string {
  const group = groupOf(name);
  return group === undefined ? root : join(root, GROUPS, group);
}
