import { Failure, fail, type Log } from '#kernel';
import type { Location } from '../../storage/contract.ts';

/** As much of the beginning as is needed to tell text from everything else. */
const HEAD = 4096;

export interface Receiving {
  readonly location: Location;
  readonly object: string;
  readonly type: string | undefined;
  /** Bytes that are taken at most; Infinity where there is no limit. */
  readonly limit: number;
}

export interface Received {
  readonly size: number;
  readonly head: Uint8Array;
}

/** `size` where it is known before all of it came. */
export const tooLarge = (limit: number, size?: number) =>
  fail(
    'CONTENT_TOO_LARGE',
    `The file ${size === undefined ? 'is larger' : `has ${size} bytes, more`} than the ${limit} bytes allowed.`,
    { limit },
  );

/** Writes what comes, counts it, and stops at the limit. What fails on the sender's side fails here as it is. */
export async function receive(
  { location, object, type, limit }: Receiving,
  bytes: AsyncIterable<Uint8Array>,
  log: Log,
): Promise<Received> {
  let size = 0;
  let headSize = 0;
  const head: Uint8Array[] = [];
  let sent: { readonly error: unknown } | undefined;

  async function* counted(): AsyncGenerator<Uint8Array> {
    try {
      for await (const part of bytes) {
        size += part.length;
        if (size > limit) throw tooLarge(limit);
        if (headSize < HEAD) {
          const own = Uint8Array.from(part.subarray(0, HEAD - headSize));
          head.push(own);
          headSize += own.length;
        }
        yield part;
      }
    } catch (error) {
      sent = { error };
      throw error;
    }
  }

  try {
    const kept = await location.write(object, counted(), type === undefined ? {} : { type });
    if (sent) throw sent.error;
    if (kept !== size) throw new Error(`${size} bytes were sent and ${kept} kept`);
  } catch (error) {
    if (sent) throw sent.error;
    if (error instanceof Failure) throw error;
    log.error({ err: error, storage: location.name, object }, 'the storage did not keep a file');
    throw fail('SERVICE_UNAVAILABLE', 'The storage could not keep the file.', { service: 'storage' });
  }
  return { size, head: Buffer.concat(head) };
}
