import { mkdir } from 'node:fs/promises';
import { basename } from 'node:path';
import type { ReadEntry } from 'tar';

/** Limits of one package: what is published is checked once, and then unpacked by every process. */
const MAX_FILES = 20_000;
const MAX_BYTES = 512 * 1024 * 1024;

/** The name of the object of an archive. Names of files of users begin otherwise, so an upload never has one of these. */
export const archiveObjectName = (checksum: string): string => `extension__${checksum}.tgz`;

/** Imported by the first archive only: most processes have none. */
const loadTar = () => import('tar');

/** Entries of folders that are no part of a package. */
const LEFT_OUT: ReadonlySet<string> = new Set(['.git', '.DS_Store']);

/**
 * Packs a folder as `npm pack` does, below `package/`. Equal files give equal bytes: neither times nor owners are kept. Links are left
 * out, since a package is to be the same wherever it is unpacked.
 */
export async function packFolder(folder: string, file: string): Promise<void> {
  const { create } = await loadTar();
  await create(
    {
      file,
      cwd: folder,
      gzip: { level: 9 },
      portable: true,
      noPax: true,
      mtime: new Date(0),
      prefix: 'package',
      filter: (path, about) =>
        !LEFT_OUT.has(basename(path)) && ('isFile' in about ? about.isFile() || about.isDirectory() : true),
    },
    ['.'],
  );
}

/**
 * Unpacks an archive of `npm pack` into a new folder, without its outermost folder. Paths that lead out of the folder, links and
 * devices are left out by the package tar and by this filter. @throws Error for a damaged archive, and for one over the limits.
 */
export async function unpackArchive(file: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const { extract } = await loadTar();
  let files = 0;
  let bytes = 0;
  await extract({
    file,
    cwd: folder,
    strip: 1,
    strict: true,
    preserveOwner: false,
    noMtime: true,
    filter: (_path, entry) => {
      const { type, size } = entry as ReadEntry;
      files++;
      bytes += size;
      // An error thrown here would reach no caller.
      if (files > MAX_FILES || bytes > MAX_BYTES) return false;
      return type === 'File' || type === 'OldFile' || type === 'Directory';
    },
  });
  if (files > MAX_FILES || bytes > MAX_BYTES)
    throw new Error(`it has more than ${MAX_FILES} files, or more than ${MAX_BYTES} bytes`);
}
