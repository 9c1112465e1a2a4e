import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** Bytes from which a body is compressed in the store. */
const COMPRESSED_FROM = 32 * 1024;
/** The fastest level: three quarters of what the slowest saves, in a tenth of the time. */
const LEVEL = 1;

/** A body as it is stored. */
export interface StoredBody {
  readonly body: Buffer;
  readonly isCompressed: boolean;
}

/** Compresses a large body outside of the event loop. */
export async function toStoredBody(text: string): Promise<StoredBody> {
  const plain = Buffer.from(text);
  if (plain.length < COMPRESSED_FROM) return { body: plain, isCompressed: false };
  const body = await compress(plain, { level: LEVEL });
  return body.length < plain.length ? { body, isCompressed: true } : { body: plain, isCompressed: false };
}

export const decompressBody = (body: Buffer): Promise<Buffer> => decompress(body);
