import { createHash } from 'node:crypto';
import { createReadStream, type ReadStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { createTemporaryFilePath } from '../storage/library.ts';

/** One part of an object, from its first byte until it has been sent. */
export interface UploadPart {
  /** Bytes so far. */
  size(): number;
  add(bytes: Uint8Array): Promise<void>;
  /** True if the SDK can send the part again. */
  readonly isRepeatable: boolean;
  /**
   * The body to send. A stream is created by each call, which destroys the previous one. `broken` is called if the stream fails: the
   * SDK does not listen for that, and would wait for the rest.
   */
  body(broken: () => void): PartBody;
  discard(): Promise<void>;
}

export type PartBody =
  | { readonly Body: Uint8Array; readonly ContentMD5?: undefined }
  /** The SDK does not sign streams, so the MD5 protects the bytes in transit. */
  | { readonly Body: Readable; readonly ContentMD5: string };

/** Buffers of discarded parts, for reuse by the next ones. */
export type SpareBuffers = Buffer[];

const INITIAL_CAPACITY = 64 * 1024;

/** A part in memory. Its buffer grows on demand, since most objects are small. */
export function createMemoryUploadPart(capacity: number, spare: SpareBuffers): UploadPart {
  let buffer = spare.pop() ?? Buffer.allocUnsafeSlow(Math.min(INITIAL_CAPACITY, capacity));
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
    isRepeatable: true,
    body: () => ({ Body: buffer.subarray(0, size) }),
    async discard() {
      spare.push(buffer);
    },
  };
}

/** A part in a temporary file. */
export async function createFileUploadPart(): Promise<UploadPart> {
  const path = createTemporaryFilePath('part');
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
    isRepeatable: false,
    body(broken) {
      digest ??= hash.digest('base64');
      sent?.destroy();
      sent = createReadStream(path).on('error', broken);
      return { Body: sent, ContentMD5: digest };
    },
    async discard() {
      // A stream that was not read to its end would keep the file open and its disk space used.
      sent?.destroy();
      await file.close();
      await rm(path, { force: true });
    },
  };
}
