import { fail } from '#kernel';
import type { HttpContext } from '../../http/contract.ts';
import { sendStream } from '../../http/library.ts';
import type { ByteRange, OpenedStorageObject } from '../../storage/contract.ts';
import type { WholeStoredObject } from '../variant.ts';
import type { AssetHeaders } from './asset-headers.ts';
import type { AssetCachePolicy } from './cache-policy.ts';
import type { RequestedRange } from './range.ts';
import { assertStreamLength, withStreamDestroyedOnDisconnect } from './stream-length.ts';

/** Headers and caching of a response. */
export interface AssetResponseDetails {
  readonly headers: AssetHeaders;
  readonly caching: AssetCachePolicy;
  /** Whether the bytes depend on the request header `Accept`. */
  readonly varies: boolean;
}

/** The failure for a file whose object is missing in its storage: the same as for a file that does not exist. */
export const createMissingBytesFailure = () => fail('FORBIDDEN', 'the bytes of the file are not in its storage');

/**
 * Sets the status and the headers of a response. Called as late as possible, so that an error response has no headers of the
 * file.
 */
function setHeaders(ctx: HttpContext, { headers, caching, varies }: AssetResponseDetails, status: number): void {
  ctx.status = status;
  for (const [name, value] of headers.fields) ctx.res.setHeader(name, value);
  ctx.res.setHeader('Cache-Control', caching.control);
  // Pages of other origins may embed public assets, also under Cross-Origin-Embedder-Policy.
  if (caching.shared) ctx.res.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
  // Another user of the same browser gets another response.
  else ctx.vary(['Authorization', 'Cookie']);
  if (varies) ctx.vary('Accept');
}

export const sendNotModified = (ctx: HttpContext, about: AssetResponseDetails): void => setHeaders(ctx, about, 304);

/** Sets the status and the headers of a 200 or 206 response, without its bytes. */
export function setContentHeaders(ctx: HttpContext, about: AssetResponseDetails, size: number, part?: ByteRange): void {
  setHeaders(ctx, about, part ? 206 : 200);
  ctx.res.setHeader('Content-Type', about.headers.type);
  ctx.res.setHeader('Content-Length', part ? part.end - part.start + 1 : size);
  if (part) ctx.res.setHeader('Content-Range', renderContentRange(part, size));
}

export async function sendWholeStoredObject(
  ctx: HttpContext,
  about: AssetResponseDetails,
  whole: WholeStoredObject,
): Promise<void> {
  if (ctx.method === 'HEAD') {
    if (!whole.buffer) whole.bytes.destroy();
    return setContentHeaders(ctx, about, whole.size);
  }
  if (!whole.buffer) return streamStoredObject(ctx, about, whole);
  setContentHeaders(ctx, about, whole.size);
  ctx.body = whole.buffer;
}

export function createRangeFailure(ctx: HttpContext, range: RequestedRange, size: number): Error {
  ctx.res.setHeader('Content-Range', `bytes */${size}`);
  return fail('RANGE_NOT_SATISFIABLE', `The file has ${size} bytes.`, { range });
}

/** Streams a large object, or a range of it. */
export async function streamStoredObject(
  ctx: HttpContext,
  about: AssetResponseDetails,
  { bytes, size }: OpenedStorageObject,
  part?: ByteRange,
): Promise<void> {
  const length = part ? part.end - part.start + 1 : size;
  // Waits for the first bytes: a failure until then is an ordinary error response.
  await withStreamDestroyedOnDisconnect(bytes, () =>
    sendStream(ctx, assertStreamLength(bytes, length), { type: about.headers.type }),
  );
  setHeaders(ctx, about, part ? 206 : 200);
  ctx.res.setHeader('Content-Length', length);
  if (part) ctx.res.setHeader('Content-Range', renderContentRange(part, size));
}

/** Value of `Content-Range`. */
const renderContentRange = ({ start, end }: ByteRange, size: number): string => `bytes ${start}-${end}/${size}`;
