import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { StorageDriver } from './contract.ts';
import { temporaryFolder } from './temporary.ts';

/** Runs `work` with a copy of the object, which is gone afterwards whatever happens; undefined where there is no object. */
export async function withCopy<T>(
  driver: Pick<StorageDriver, 'open'>,
  name: string,
  work: (path: string) => Promise<T>,
): Promise<T | undefined> {
  const opened = await driver.open(name);
  if (!opened) return undefined;
  // A connection may break before anybody reads: whoever reads then is told, and without a listener the process would end.
  opened.bytes.on('error', () => {});
  let folder: string | undefined;
  try {
    folder = await temporaryFolder('object');
    // Its own name: programs that go by the extension find it.
    const path = join(folder, name);
    await pipeline(opened.bytes, createWriteStream(path));
    return await work(path);
  } finally {
    opened.bytes.destroy();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
}
