import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { StorageDriver } from './contract.ts';
import { createTemporaryFolder } from './temporary-files.ts';

/** Runs `work` with a temporary copy of the object, which is always deleted afterwards; undefined if there is no object. */
export async function withTemporaryCopy<T>(
  driver: Pick<StorageDriver, 'open'>,
  name: string,
  work: (path: string) => Promise<T>,
): Promise<T | undefined> {
  const opened = await driver.open(name);
  if (!opened) return undefined;
  // The connection may break before the pipeline reads: without a listener the error would end the process.
  opened.bytes.on('error', () => {});
  let folder: string | undefined;
  try {
    folder = await createTemporaryFolder('object');
    // The copy keeps the name, for programs that use the extension.
    const path = join(folder, name);
    await pipeline(opened.bytes, createWriteStream(path));
    return await work(path);
  } finally {
    opened.bytes.destroy();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
}
