import { createHash } from 'node:crypto';
import { createReadStream, type ReadStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { temporaryFile } from '../storage/library.ts';

/** One part while it is gathered, and until it has been sent. */
export interface Part {
  /** Bytes so far. */
  size(): number;
  add(bytes: Uint8Array): Promise<void>;
  /** The SDK can send it again by itself. */
  readonly repeats: boolean;
  /**
   * What is sent. A body that can be read only once is made anew by each call, and ends the one before. `broken` hears that it
   * cannot be read: the SDK does not listen, and would wait for the rest.
   */
  body(broken: () => void): PartBody;
  discard(): Promise<void>;
}

export type PartBody =
  | { readonly Body: Uint8Array; readonly ContentMD5?: undefined }
  /** The SDK signs no streams: without the hash nobody would notice bytes that change on their way. */
  | { readonly Body: Readable; readonly ContentMD5: string };

/** Memory that parts are gathered in, one after the other: no more of it than parts are kept at a time. */
export type Buffers = Buffer[];

const SMALLEST = 64 * 1024;

/** A part in memory, which takes what it needs by and by: most objects are small. */
export function partInMemory(capacity: number, spare: Buffers): Part {
  let buffer = spare.pop() ?? Buffer.allocUnsafeSlow(Math.min(SMALLEST, capacity));
  let size = 0;
  const grow = (needed: number) => {
    if (needed <= buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.min(capacity, Math.max(needed, buffer.length * 2)));
    buffer.copy(larger, 0, 0, size);
    buffer = larger;
  };
  return {
    size: () => size,
    async add(bytes) {
      grow(size + bytes.length);
      buffer.set(bytes, size);
      size += bytes.length;
    },
    repeats: true,
    body: () => ({ Body: buffer.subarray(0, size) }),
    async discard() {
      spare.push(buffer);
    },
  };
}

export async function partOnDisk(): Promise<Part> {
  const path = temporaryFile('part');
  const hash = createHash('md5');
  let digest: string | undefined;
  let size = 0;
  let sent: ReadStream | undefined;
  const file = await open(path, 'wx', 0o600);
  return {
    size: () => size,
    async add(bytes) {
      hash.update(bytes);
      size += bytes.length;
      for (let rest = bytes; rest.length > 0; ) {
        const { bytesWritten } = await file.write(rest);
        rest = rest.subarray(bytesWritten);
      }
    },
    repeats: false,
    body(broken) {
      digest ??= hash.digest('base64');
      sent?.destroy();
      sent = createReadStream(path).on('error', broken);
      return { Body: sent, ContentMD5: digest };
    },
    async discard() {
      // One that was not read to its end would hold the file, and its place on the disk.
      sent?.destroy();
      await file.close();
      await rm(path, { force: true });
    },
  };
}
