import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Log } from '#kernel';
import type { Inspected, Media } from '../../media/contract.ts';
import type { Location } from '../../storage/contract.ts';
import { temporaryFolder } from '../../storage/library.ts';
import { isPlainText } from './plain-text.ts';
import type { Received } from './receive.ts';

/** Above this only the beginning is looked at where all of it would have to be copied first. */
const WHOLE = 256 * 1024 ** 2;
const BEGINNING = 4 * 1024 ** 2;
const PICTURED = /^(?:image|audio|video)\//;

interface Deps {
  readonly media: Pick<Media, 'inspect'>;
  readonly log: Log;
}

/** What the stored bytes are and say of themselves. That nothing can be found out is no reason to refuse them. */
export async function look(
  { media, log }: Deps,
  location: Location,
  object: string,
  { size, head }: Received,
  declared: string | undefined,
): Promise<Inspected> {
  if (size === 0 || (isPlainText(head) && !PICTURED.test(declared ?? ''))) return {};
  const inspect = (path: string) => media.inspect(path, declared);
  try {
    if (size <= WHOLE || !location.copies) return (await location.asFile(object, inspect)) ?? {};
    return await withBeginning(location, object, inspect);
  } catch (error) {
    log.warn({ err: error, storage: location.name, object }, 'a file could not be looked into');
    return {};
  }
}

async function withBeginning(
  location: Location,
  object: string,
  work: (path: string) => Promise<Inspected>,
): Promise<Inspected> {
  const folder = await temporaryFolder('beginning');
  const path = join(folder, object);
  try {
    const opened = await location.open(object, { start: 0, end: BEGINNING - 1 });
    if (!opened) return {};
    await pipeline(opened.bytes, createWriteStream(path, { mode: 0o600, flags: 'wx' }));
    return await work(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
