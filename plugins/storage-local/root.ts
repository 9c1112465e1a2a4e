import { randomUUID } from 'node:crypto';
import { mkdir, realpath, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { BootFailure } from '#kernel';
import type { StorageLocationSettings } from '../storage/contract.ts';
import { storageVariableOf } from '../storage/library.ts';
import { removeAbandonedPartialFiles } from './partial-files.ts';
import { PARTIAL_FILES_FOLDER, VARIANT_GROUPS_FOLDER } from './paths.ts';

/** Creates the folder of a location if needed. @throws BootFailure if it is not writable. */
export async function prepareStorageRootFolder(
  { location, setting }: StorageLocationSettings,
  dataPath: string,
): Promise<string> {
  // Two locations share a folder only if both ROOT settings name it.
  const root = resolve(setting('ROOT') ?? join(dataPath, location === 'local' ? 'uploads' : `uploads-${location}`));
  const probe = join(root, PARTIAL_FILES_FOLDER, `probe.${randomUUID()}`);
  try {
    for (const folder of [PARTIAL_FILES_FOLDER, VARIANT_GROUPS_FOLDER])
      await mkdir(join(root, folder), { recursive: true });
    await writeFile(probe, '');
    await rm(probe);
    await removeAbandonedPartialFiles(root);
    return await realpath(root);
  } catch (error) {
    const variable = storageVariableOf(location, 'ROOT');
    throw new BootFailure(
      '@tenon/storage-local',
      'start',
      `nothing can be written to ${root}, where the location ${location} is to be kept: ${(error as Error).message}`,
      { remedy: `set ${variable} (or DATA_PATH) to a folder this user may write to`, cause: error },
    );
  }
}
