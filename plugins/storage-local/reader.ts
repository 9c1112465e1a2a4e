import { close, read } from 'node:fs';
import { Readable } from 'node:stream';

/** Bytes that are read at once at most, and held by one reader that nobody reads from. */
const CHUNK = 256 * 1024;

/** The bytes from `start` to `end` of an open file, which is closed with the last of them, or when the reader is destroyed. */
export function readerOf(file: number, start: number, end: number): Readable {
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
        if (count === 0) return this.destroy(new Error('a stored file is shorter than it was when it was opened'));
        at += count;
        this.push(count === part.length ? part : part.subarray(0, count));
        if (at > end) this.push(null);
      });
    },
    destroy(error, done) {
      const closeFile = () => close(file, (failed) => done(error ?? failed));
      // Its number may be that of another file as soon as it is closed.
      if (isReading) closeNow = closeFile;
      else closeFile();
    },
  });
}
