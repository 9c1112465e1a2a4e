import type { Readable } from 'node:stream';
import { requestScope } from '#kernel';
import type { Opened } from '../../storage/contract.ts';
import { passing } from '../../storage/library.ts';

/**
 * What is read of an object, exactly as long as was promised: an answer whose length is said already must neither end early,
 * which would look whole to some clients, nor run into the next one. Leaving lets go of the reader at once, also while
 * it waits for a slow backend.
 */
export function exactly(bytes: Readable, length: number): AsyncIterable<Uint8Array> {
  const parts = bytes[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  let left = length;
  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      const part = await parts.next();
      if (!part.done) {
        left -= part.value.length;
        passing(part.value.length);
      }
      if (left < 0 || (part.done && left > 0)) {
        bytes.destroy();
        throw differs(length, length - left);
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

/** Waits for something of `bytes`, but no longer than somebody waits for the answer: a backend may hang. */
export async function whileAwaited<T>(bytes: Readable, work: () => Promise<T>): Promise<T> {
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

/** A small object at once. By events: the iterator of a stream costs more than all the rest here. */
export const collected = ({ bytes, size }: Opened): Promise<Buffer> =>
  whileAwaited(
    bytes,
    () =>
      new Promise((resolve, reject) => {
        const parts: Buffer[] = [];
        let length = 0;
        bytes.on('data', (part: Buffer) => {
          parts.push(part);
          length += part.length;
          if (length > size) bytes.destroy(differs(size, length));
        });
        bytes.once('error', reject);
        bytes.once('end', () => {
          if (length < size) reject(differs(size, length));
          else resolve(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts));
        });
        bytes.once('close', () => {
          if (!bytes.readableEnded) reject(new Error('the reader of an object was closed'));
        });
      }),
  );

const differs = (promised: number, found: number): Error =>
  new Error(`an object has ${found > promised ? 'more' : 'less'} than the ${promised} bytes it was said to have`);
