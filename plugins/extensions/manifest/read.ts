import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { LoadFailure } from '../extension-types.ts';
import { type ManifestDeps, type ValidatedPackage, validatePackageManifest } from './validate.ts';

/** Maximum bytes of a package.json. The gate of confined packages has a lower limit. */
const MAX_BYTES = 4 * 1024 * 1024;

export interface PackageJson {
  /** Parsed JSON. */
  readonly parsed: unknown;
  readonly bytes: number;
}

/**
 * Reads `package.json` of a folder.
 * @throws LoadFailure MANIFEST_INVALID or MANIFEST_TOO_LARGE.
 */
export async function readPackageJson(folder: string, maxBytes = MAX_BYTES): Promise<PackageJson> {
  const text = await readText(join(folder, 'package.json'), maxBytes);
  try {
    return { parsed: JSON.parse(text), bytes: Buffer.byteLength(text) };
  } catch (error) {
    throw new LoadFailure('MANIFEST_INVALID', 'package.json is not JSON. Correct it.', { cause: error });
  }
}

/** Reads and validates a package's manifest. */
export const readManifest = async (folder: string, deps: ManifestDeps, maxBytes?: number): Promise<ValidatedPackage> =>
  validatePackageManifest((await readPackageJson(folder, maxBytes)).parsed, deps);

async function readText(path: string, maxBytes: number): Promise<string> {
  try {
    // Without O_NONBLOCK, opening a named pipe would wait for a writer.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const file = await handle.stat();
      const { size } = file;
      if (!file.isFile()) throw new LoadFailure('MANIFEST_INVALID', 'package.json is not a file. Replace it.');
      if (size > maxBytes) {
        throw new LoadFailure(
          'MANIFEST_TOO_LARGE',
          `package.json has ${size} bytes, of ${maxBytes} at most. Make it smaller.`,
        );
      }
      return (await handle.readFile('utf8')).replace(/^\uFEFF/, '');
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof LoadFailure) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const detail =
      code === 'ENOENT'
        ? 'there is no package.json. Add one.'
        : `package.json cannot be read (${code}). Check its rights.`;
    throw new LoadFailure('MANIFEST_INVALID', detail, { cause: error });
  }
}
