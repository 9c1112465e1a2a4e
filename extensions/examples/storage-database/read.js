import { Readable } from 'node:stream';
import { CHUNK } from './chunks.js';

/** Rows that one reader fetches at a time. */
const AT_ONCE = 4;

/** Streams the bytes from `start` to `end`. Fetches only rows that have some of them, as they are read. */
export const bytesOf = (chunks, object, { start, end }) =>
  Readable.from(pieces(chunks, object, start, end), { objectMode: false });

async function* pieces(chunks, object, start, end) {
  if (end < start) return;
  const last = Math.floor(end / CHUNK);
  for (let first = Math.floor(start / CHUNK); first <= last; first += AT_ONCE) {
    const parts = [first, Math.min(first + AT_ONCE - 1, last)];
    const rows = await chunks().where({ object }).whereBetween('part', parts).orderBy('part').select('part', 'bytes');
    // An answer must not end as if it were complete.
    if (rows.length !== parts[1] - parts[0] + 1) throw new Error('an object was removed while it was read');
    for (const { part, bytes } of rows) {
      const begin = part * CHUNK;
      yield bytes.subarray(Math.max(0, start - begin), Math.min(bytes.length, end - begin + 1));
    }
  }
}
