import { constants, type Stats } from 'node:fs';
import { lstat, open, realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { LoadFailure, type ReasonCode } from '../extension-types.ts';

/** A file of a package, with links resolved. */
export interface PackageFile {
  /** Absolute path, with links resolved. */
  readonly path: string;
  /** Path for messages: relative to the package, with slashes. */
  readonly displayPath: string;
}

/** Reads files of one package. Paths and links that lead out of its folder are refused. */
export interface PackageFileReader {
  readonly root: string;
  /**
   * Finds a file of the package; undefined if there is no such regular file.
   * @throws LoadFailure LOCAL_PATH_ESCAPES_ROOT if it lies outside of the package.
   */
  find(path: string): Promise<PackageFile | undefined>;
  /**
   * The complete file; undefined if it is larger than `limit` bytes.
   * @throws LoadFailure with the code `unreadable`.
   */
  read(file: PackageFile, limit: number, unreadable: ReasonCode): Promise<Buffer | undefined>;
}

export async function openPackageFileReader(folder: string): Promise<PackageFileReader> {
  const root = await realpath(folder);
  return {
    root,
    async find(path) {
      const requestedPath = isAbsolute(path) ? path : resolve(root, path);
      const found = await realpath(requestedPath).catch(() => undefined);
      if (found === undefined) {
        if (!isInside(root, requestedPath) && !isInside(resolve(folder), requestedPath)) throw createEscapeFailure();
        return undefined;
      }
      if (!isInside(root, found)) throw createEscapeFailure();
      if (!(await stat(found)).isFile()) return undefined;
      return { path: found, displayPath: relative(root, found).split(sep).join('/') };
    },
    read: readCompleteFile,
  };
}

const createEscapeFailure = () =>
  new LoadFailure(
    'LOCAL_PATH_ESCAPES_ROOT',
    'A file that the manifest or a source names lies outside of the package; keep it inside, links resolved.',
  );

const isInside = (root: string, path: string): boolean => {
  const relativePath = relative(root, path);
  return (
    relativePath !== '' && relativePath !== '..' && !relativePath.startsWith(`..${sep}`) && !isAbsolute(relativePath)
  );
};

/** Whether the path still leads to the opened file, without a link. */
async function isSameFile(path: string, { ino, dev }: Stats): Promise<boolean> {
  const now = await lstat(path);
  return now.ino === ino && now.dev === dev && (await realpath(path)) === path;
}

/** Reads a complete file that has not moved since it was found; undefined if it is larger than `limit` bytes. */
export async function readCompleteFile(
  file: PackageFile,
  limit: number,
  unreadable: ReasonCode,
): Promise<Buffer | undefined> {
  try {
    const handle = await open(file.path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      // Opening a pipe or reading a device may wait for ever; O_NONBLOCK and the check of `isFile` refuse both.
      const about = await handle.stat();
      // A link may have replaced the file or a folder above it since it was found.
      if (!(await isSameFile(file.path, about))) throw createEscapeFailure();
      if (!about.isFile()) throw new LoadFailure(unreadable, `"${file.displayPath}" is not a file.`);
      if (about.size > limit) return undefined;
      // The buffer has one byte more than the file, which shows whether the file grew meanwhile.
      const buffer = Buffer.allocUnsafe(about.size + 1);
      let length = 0;
      for (;;) {
        const { bytesRead } = await handle.read(buffer, length, buffer.length - length);
        length += bytesRead;
        if (bytesRead === 0) return buffer.subarray(0, length);
        if (length === buffer.length)
          throw new LoadFailure(unreadable, `"${file.displayPath}" changes while it is read.`);
      }
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof LoadFailure) throw error;
    throw new LoadFailure(unreadable, `"${file.displayPath}" cannot be read.`, { cause: error });
  }
}
