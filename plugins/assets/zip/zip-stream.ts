import type { Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import type { StorageService } from '../../storage/contract.ts';
import type { FileRecord } from '../variant.ts';

/** A file of an archive, with its path there. */
export interface ZipEntry {
  readonly path: string;
  readonly file: FileRecord;
}

/**
 * The bytes of an archive with these files, as they are: most are compressed already. One object is open at a time, and the next
 * one is opened when the client has received the one before. Leaving the iterator closes it at once, also while the storage hangs.
 */
export function zipBytes(storage: Pick<StorageService, 'at'>, entries: readonly ZipEntry[]): AsyncIterable<Uint8Array> {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  let open: Readable | undefined;
  const fail = (error: Error) => void output.destroy(error);
  zip.on('error', fail);
  // Before the archive is read, too, an error is one of its reader, and not of the process.
  output.on('error', () => {});
  for (const { path, file } of entries)
    zip.addReadStreamLazy(path, { compress: false, mtime: file.modified_on ?? new Date(0) }, (done) => {
      openBytes(storage, file).then((bytes) => {
        open = bytes;
        // The library pipes the bytes, and listens to no error of them.
        bytes.on('error', fail);
        // The client may have left meanwhile; the library destroys no stream.
        if (output.destroyed) bytes.destroy();
        else done(null, bytes);
      }, fail);
    });
  zip.end();
  const parts = output[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => parts.next(),
      async return() {
        output.destroy();
        open?.destroy();
        return { done: true, value: undefined };
      },
    }),
  };
}

async function openBytes(
  storage: Pick<StorageService, 'at'>,
  { storage: location, filename_disk: name }: FileRecord,
): Promise<Readable> {
  const opened = await storage.at(location).open(name);
  if (!opened) throw new Error('the bytes of a file of an archive are not in their storage');
  return opened.bytes;
}
