import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Lists the paths of all files in a folder, relative to the folder and sorted. A service may write there meanwhile: folders that
 * are removed count as empty. The file `.place`, by which storage identifies its root folder, is left out.
 */
export async function filesIn(folder: string, under = ''): Promise<readonly string[]> {
  const entries = await readdir(join(folder, under), { withFileTypes: true }).catch((error): Dirent[] => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const paths = await Promise.all(
    entries.map((entry): readonly string[] | Promise<readonly string[]> => {
      const path = join(under, entry.name);
      if (entry.isDirectory()) return filesIn(folder, path);
      return entry.isFile() && entry.name !== '.place' ? [path] : [];
    }),
  );
  return paths.flat().sort();
}
