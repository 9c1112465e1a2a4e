import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Log } from '#kernel';
import type { FileInspection, MediaService } from '../../media/contract.ts';
import type { StorageLocation } from '../../storage/contract.ts';
import { createTemporaryFolder } from '../../storage/library.ts';
import { isHeadPlainText } from './plain-text.ts';
import type { ReceivedBytesSummary } from './receive.ts';

/**
 * Maximum bytes that are copied for an inspection. Of a larger object that would have to be copied, only the head is inspected.
 */
const MAX_COPIED = 256 * 1024 ** 2;
const HEAD_SIZE = 4 * 1024 ** 2;
const MEDIA_TYPE = /^(?:image|audio|video)\//;

interface Deps {
  readonly media: Pick<MediaService, 'inspect'>;
  readonly log: Log;
}

/** Type, size and metadata of the stored bytes. An inspection that fails is logged, and the file is kept. */
export async function inspectUpload(
  { media, log }: Deps,
  location: StorageLocation,
  object: string,
  { size, head }: ReceivedBytesSummary,
  declared: string | undefined,
): Promise<FileInspection> {
  if (size === 0 || (isHeadPlainText(head) && !MEDIA_TYPE.test(declared ?? ''))) return {};
  const inspect = (path: string) => media.inspect(path, declared);
  try {
    if (size <= MAX_COPIED || !location.copies) return (await location.asFile(object, inspect)) ?? {};
    return await withHead(location, object, inspect);
  } catch (error) {
    log.warn({ err: error, storage: location.name, object }, 'a file could not be inspected');
    return {};
  }
}

async function withHead(
  location: StorageLocation,
  object: string,
  work: (path: string) => Promise<FileInspection>,
): Promise<FileInspection> {
  const folder = await createTemporaryFolder('beginning');
  const path = join(folder, object);
  try {
    const opened = await location.open(object, { start: 0, end: HEAD_SIZE - 1 });
    if (!opened) return {};
    await pipeline(opened.bytes, createWriteStream(path, { mode: 0o600, flags: 'wx' }));
    return await work(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
