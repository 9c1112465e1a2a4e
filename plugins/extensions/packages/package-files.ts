import { constants, type Stats } from 'node:fs';
import { lstat, open, realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { LoadFailure, type ReasonCode } from '../model.ts';

/** A file of a package, wherever links led. */
export interface PackageFile {
  /** Absolute, after links. */
  readonly path: string;
  /** As it is shown: relative to the package, with slashes. */
  readonly displayPath: string;
}

/** The files of one package: nothing outside of its folder is found, whatever links and dots there are. */
export interface PackageFiles {
  readonly root: string;
  /** Undefined where there is no such file, or no plain one. LOCAL_PATH_ESCAPES_ROOT where it lies outside. */
  find(path: string): Promise<PackageFile | undefined>;
  /** The whole file; undefined where it is larger than `limit` bytes. Throws LoadFailure with `unreadable`. */
  read(file: PackageFile, limit: number, unreadable: ReasonCode): Promise<Buffer | undefined>;
}

export async function openPackageFiles(folder: string): Promise<PackageFiles> {
  const root = await realpath(folder);
  return {
    root,
    async find(path) {
      const asked = isAbsolute(path) ? path : resolve(root, path);
      const found = await realpath(asked).catch(() => undefined);
      if (found === undefined) {
        if (!isInside(root, asked) && !isInside(resolve(folder), asked)) throw createEscapeFailure();
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
  const way = relative(root, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
};

/** Does the path lead to the file that was opened, and by no link? */
async function isSameFile(path: string, { ino, dev }: Stats): Promise<boolean> {
  const now = await lstat(path);
  return now.ino === ino && now.dev === dev && (await realpath(path)) === path;
}

/** What is still where it was found, as a whole; undefined where it is larger than `limit` bytes. */
export async function readCompleteFile(
  file: PackageFile,
  limit: number,
  unreadable: ReasonCode,
): Promise<Buffer | undefined> {
  try {
    const handle = await open(file.path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      // Opening a pipe may wait for ever, reading a device too: neither is waited for, and neither is a file.
      const about = await handle.stat();
      // A link may have taken its place, or that of a folder above, since it was found.
      if (!(await isSameFile(file.path, about))) throw createEscapeFailure();
      if (!about.isFile()) throw new LoadFailure(unreadable, `"${file.displayPath}" is not a file.`);
      if (about.size > limit) return undefined;
      // It may grow meanwhile: one byte more tells.
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
