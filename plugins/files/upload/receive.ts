import { Failure, fail, type Log } from '#kernel';
import type { StorageLocation } from '../../storage/contract.ts';

/** Bytes of the head, enough to recognise plain text. */
const HEAD_SIZE = 4096;

export interface UploadTarget {
  readonly location: StorageLocation;
  readonly object: string;
  readonly type: string | undefined;
  /** Maximum bytes of the file; Infinity without a limit. */
  readonly limit: number;
}

export interface ReceivedBytesSummary {
  readonly size: number;
  readonly head: Uint8Array;
}

/** The failure of an upload that is too large. `size`: its bytes, if they are known before the end of the upload. */
export const createTooLargeFailure = (limit: number, size?: number) =>
  fail(
    'CONTENT_TOO_LARGE',
    `The file ${size === undefined ? 'is larger' : `has ${size} bytes, more`} than the ${limit} bytes allowed.`,
    { limit },
  );

/** Writes the bytes to the location, counts them and stops at the limit. @throws errors of the source unchanged. */
export async function writeUploadToStorage(
  { location, object, type, limit }: UploadTarget,
  bytes: AsyncIterable<Uint8Array>,
  log: Log,
): Promise<ReceivedBytesSummary> {
  let size = 0;
  let headSize = 0;
  const head: Uint8Array[] = [];
  let sourceFailure: { readonly error: unknown } | undefined;

  async function* countBytes(): AsyncGenerator<Uint8Array> {
    try {
      for await (const part of bytes) {
        size += part.length;
        if (size > limit) throw createTooLargeFailure(limit);
        if (headSize < HEAD_SIZE) {
          const copy = Uint8Array.from(part.subarray(0, HEAD_SIZE - headSize));
          head.push(copy);
          headSize += copy.length;
        }
        yield part;
      }
    } catch (error) {
      sourceFailure = { error };
      throw error;
    }
  }

  try {
    const stored = await location.write(object, countBytes(), type === undefined ? {} : { type });
    if (sourceFailure) throw sourceFailure.error;
    if (stored !== size) throw new Error(`${size} bytes were sent and ${stored} stored`);
  } catch (error) {
    if (sourceFailure) throw sourceFailure.error;
    if (error instanceof Failure) throw error;
    log.error({ err: error, storage: location.name, object }, 'the storage could not write a file');
    throw fail('SERVICE_UNAVAILABLE', 'The storage could not keep the file.', { service: 'storage' });
  }
  return { size, head: Buffer.concat(head) };
}
