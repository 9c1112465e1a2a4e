import { join } from 'node:path';

/** Folder of incomplete writes, on the same file system as the objects, so that a rename moves them. */
export const PARTIAL_FILES_FOLDER = '.partial';
/** Folder of the variants, in one folder per source object. */
export const VARIANT_GROUPS_FOLDER = '.groups';

/** Separates the group, which is the name of the source object, from the rest of the name of a variant. */
const GROUP_SEPARATOR = '__';

/** The group of an object name or prefix; undefined without one, or if the prefix is too short. */
export function variantGroupOf(name: string): string | undefined {
  const end = name.indexOf(GROUP_SEPARATOR, 1);
  return end < 0 ? undefined : name.slice(0, end);
}

/** True if objects of this group can have names that start with `prefix`. */
export const canVariantGroupMatchPrefix = (group: string, prefix: string): boolean =>
  `${group}${GROUP_SEPARATOR}`.startsWith(prefix);

/**
 * The folder of an object. `picture__1f3a.webp` lies in a folder with all variants of `picture`, so that listing them does not read
 * a folder with a million names. All other objects lie in the root. Object names never start with a dot, so none is a folder here.
 */
export function objectFolderOf(root: string, name: string): string {
  const group = variantGroupOf(name);
  return group === undefined ? root : join(root, VARIANT_GROUPS_FOLDER, group);
}
