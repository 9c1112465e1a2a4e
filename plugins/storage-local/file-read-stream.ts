import { close, read } from 'node:fs';
import { Readable } from 'node:stream';

/** Bytes per read of a file, and the most that an idle reader holds in memory. */
const CHUNK = 256 * 1024;

/** Reads the bytes `start` to `end`, both included, of an open file, and closes it at the end or when the reader is destroyed. */
export function createFileReader(file: number, start: number, end: number): Readable {
  let at = start;
  let isReading = false;
  let closeNow: (() => void) | undefined;
  return new Readable({
    highWaterMark: CHUNK,
    read() {
      const part = Buffer.allocUnsafe(Math.min(CHUNK, end - at + 1));
      isReading = true;
      read(file, part, 0, part.length, at, (error, count) => {
        isReading = false;
        if (closeNow) return closeNow();
        if (error) return this.destroy(error);
        if (count === 0) return this.destroy(new Error('a stored file is shorter than when it was opened'));
        at += count;
        this.push(count === part.length ? part : part.subarray(0, count));
        if (at > end) this.push(null);
      });
    },
    destroy(error, done) {
      const closeFile = () => close(file, (failed) => done(error ?? failed));
      // A closed descriptor may belong to another file at once, so a running read must end first.
      if (isReading) closeNow = closeFile;
      else closeFile();
    },
  });
}
