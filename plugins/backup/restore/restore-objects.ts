import { Readable } from 'node:stream';
import type { StorageService } from '../../storage/contract.ts';
import { parseObjectEntryName } from '../archive/format.ts';
import type { ReadEntry } from '../archive/read-archive.ts';
import type { Progress } from '../progress.ts';

/** Objects up to this size are read into memory, so that several can be written at a time. Bytes. */
const SMALL = 1024 * 1024;
const CONCURRENCY = 8;

/** Writes objects of an archive to their locations. */
export interface ObjectRestorer {
  /** Writes the object of an entry, or drops it where its location is left out. */
  restore(entry: ReadEntry): Promise<void>;
  /** Resolves with the number of written objects when all are stored. @throws what a write threw */
  finish(): Promise<number>;
}

export function createObjectRestorer(
  storage: Pick<StorageService, 'at'>,
  skips: readonly string[],
  progress: Progress,
): ObjectRestorer {
  const writing = new Set<Promise<void>>();
  let failure: { readonly error: unknown } | undefined;
  let count = 0;

  function write(location: string, name: string, content: Readable, type: string | undefined): Promise<void> {
    const done = storage
      .at(location)
      .write(name, content, type === undefined ? {} : { type })
      .then((bytes) => {
        count++;
        progress.addObject();
        progress.addBytes(bytes);
      })
      .catch((error) => {
        failure ??= { error };
      })
      .finally(() => writing.delete(done));
    writing.add(done);
    return done;
  }
  const throwFailure = () => {
    if (failure) throw failure.error;
  };

  return {
    async restore({ name: entry, size, comment, content }) {
      throwFailure();
      const found = parseObjectEntryName(entry);
      if (!found || skips.includes(found.location)) return void content.resume();
      if (size > SMALL) {
        await write(found.location, found.name, content, comment);
        return throwFailure();
      }
      const parts: Buffer[] = [];
      for await (const part of content) parts.push(part as Buffer);
      if (writing.size >= CONCURRENCY) await Promise.race(writing);
      void write(found.location, found.name, Readable.from(parts), comment);
    },
    async finish() {
      await Promise.all(writing);
      throwFailure();
      return count;
    },
  };
}
