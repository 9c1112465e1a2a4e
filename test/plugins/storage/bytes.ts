import { Readable } from 'node:stream';

/** Pseudo-random bytes, the same in every run. They differ at each position, so that tests detect misplaced ranges. */
export function createTestBytes(length: number, seed = 1): Buffer {
  const words = new Uint32Array(Math.ceil(length / 4));
  for (let at = 0; at < words.length; at++) {
    let word = (at + seed * 0x9e3779b1) | 0;
    word = Math.imul(word ^ (word >>> 16), 0x45d9f3b);
    words[at] = word ^ (word >>> 15);
  }
  return Buffer.from(words.buffer, 0, length);
}

/** Yields the data in chunks of this size, as a connection does. */
export async function* yieldByteChunks(data: Uint8Array, size = 64 * 1024): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < data.length; at += size) yield data.subarray(at, at + size);
}

/** A Node stream of the data in chunks of this size. */
export const toByteStream = (data: Uint8Array, size?: number): Readable => Readable.from(yieldByteChunks(data, size));

export async function readAllBytes(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of source) parts.push(part);
  return Buffer.concat(parts);
}

/** A byte source that yields `data` and then waits until the test calls `goOn` or `fail`. */
export function createPausedByteSource(data: Uint8Array): {
  readonly source: AsyncIterable<Uint8Array>;
  /** Resolves when the reader has requested more than `data`. */
  readonly reached: Promise<void>;
  goOn(rest?: Uint8Array): void;
  fail(error: Error): void;
} {
  const reached = Promise.withResolvers<void>();
  const rest = Promise.withResolvers<Uint8Array>();
  // Prevents an unhandled rejection where no reader awaits the rest.
  rest.promise.catch(() => {});
  async function* source() {
    yield* yieldByteChunks(data);
    reached.resolve();
    yield await rest.promise;
  }
  return {
    source: source(),
    reached: reached.promise,
    goOn: (last = Buffer.alloc(0)) => rest.resolve(last),
    fail: (error) => rest.reject(error),
  };
}
