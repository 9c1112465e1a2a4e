import { extname } from 'node:path';

/** The beginning of the names of everything made of the object of this name. */
export const variantPrefix = (diskName: string): string =>
  `${diskName.slice(0, diskName.length - extname(diskName).length)}__`;
