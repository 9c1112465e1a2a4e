import type { Readable } from 'node:stream';
import { requestScope } from '#kernel';
import type { OpenedStorageObject } from '../../storage/contract.ts';
import { countBytesForGarbageCollection } from '../../storage/library.ts';

/**
 * Passes on the bytes of an object and throws unless they have the promised length: Content-Length is sent already, and a shorter
 * body would look complete to some clients, a longer one would run into the next response. Leaving the iterator destroys the
 * reader at once, also while it waits for a slow backend.
 */
export function assertStreamLength(bytes: Readable, length: number): AsyncIterable<Uint8Array> {
  const parts = bytes[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  let left = length;
  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      const part = await parts.next();
      if (!part.done) {
        left -= part.value.length;
        countBytesForGarbageCollection(part.value.length);
      }
      if (left < 0 || (part.done && left > 0)) {
        bytes.destroy();
        throw createLengthError(length, length - left);
      }
      return part;
    },
    async return() {
      bytes.destroy();
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

/** Runs `work`, and destroys the stream `bytes` when the client disconnects, since the storage backend may hang. */
export async function withStreamDestroyedOnDisconnect<T>(bytes: Readable, work: () => Promise<T>): Promise<T> {
  const signal = requestScope.getStore()?.signal;
  const leave = () => void bytes.destroy(signal?.reason);
  if (signal?.aborted) leave();
  signal?.addEventListener('abort', leave);
  try {
    return await work();
  } finally {
    signal?.removeEventListener('abort', leave);
  }
}

/**
 * Reads a small object into memory by stream events, since the async iterator of a stream costs more than the rest of the
 * request.
 */
export const collectBytes = ({ bytes, size }: OpenedStorageObject): Promise<Buffer> =>
  withStreamDestroyedOnDisconnect(
    bytes,
    () =>
      new Promise((resolve, reject) => {
        const parts: Buffer[] = [];
        let length = 0;
        bytes.on('data', (part: Buffer) => {
          parts.push(part);
          length += part.length;
          if (length > size) bytes.destroy(createLengthError(size, length));
        });
        bytes.once('error', reject);
        bytes.once('end', () => {
          if (length < size) reject(createLengthError(size, length));
          else resolve(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts));
        });
        bytes.once('close', () => {
          if (!bytes.readableEnded) reject(new Error('the reader of an object was closed before its end'));
        });
      }),
  );

const createLengthError = (promised: number, found: number): Error =>
  new Error(`an object has ${found > promised ? 'more' : 'less'} than the ${promised} bytes it was said to have`);
