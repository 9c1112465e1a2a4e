import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { extract } from 'tar-stream';
import { BackupError } from '../failures.ts';
import { type BackupManifest, createNoBackupError, ENTRIES, parseManifest } from './format.ts';

/** An entry while the archive is read: `content` has to be read to its end, or dropped by `content.resume()`. */
export interface ReadEntry {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly comment: string | undefined;
  readonly content: Readable;
}

/** The largest manifest, in bytes. */
const MAX_MANIFEST_SIZE = 16 * 1024 * 1024;

/** The entries of an archive in their order. @throws BackupError where the file is none, is cut off, or cannot be read. */
export async function* readEntries(path: string): AsyncGenerator<ReadEntry> {
  const archive = extract();
  const source = createReadStream(path);
  source.on('error', (error) => archive.destroy(error));
  source.pipe(archive as unknown as NodeJS.WritableStream);
  let isArchive = false;
  try {
    for await (const entry of archive) {
      const { name, size = 0, type, pax } = entry.header;
      if (type !== 'file') throw createNoBackupError();
      isArchive = true;
      yield {
        name,
        size,
        comment: (pax as Readonly<Record<string, string>> | undefined)?.comment,
        content: entry as unknown as Readable,
      };
    }
  } catch (error) {
    const read = toReadError(error, path);
    throw isArchive || (error as NodeJS.ErrnoException).code !== undefined ? read : createNoBackupError();
  } finally {
    source.destroy();
  }
}

/** An error while an archive or the content of an entry was read, as one that says what to do. */
export function toReadError(error: unknown, path: string): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'EACCES' || code === 'EISDIR')
    return new BackupError(`${path} cannot be read (${code})`, 'name a file that the command backup has written');
  if (/Unexpected end of data/.test(message))
    return new BackupError('the archive is cut off', 'take another copy of it, or an earlier backup');
  if (/Invalid tar header|exceeds max size|Invalid header/.test(message)) return createNoBackupError();
  return error;
}

/** The manifest, which is the first entry. @throws BackupError */
export async function readManifest(path: string): Promise<BackupManifest> {
  for await (const { name, size, content } of readEntries(path)) {
    if (name !== ENTRIES.manifest || size > MAX_MANIFEST_SIZE) break;
    const parts: Buffer[] = [];
    for await (const part of content) parts.push(part as Buffer);
    return parseManifest(Buffer.concat(parts).toString());
  }
  throw createNoBackupError();
}
