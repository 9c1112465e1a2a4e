import { fail } from '#kernel';
import type { HttpContext } from '../../http/contract.ts';
import { sendStream } from '../../http/library.ts';
import type { ByteRange, Opened } from '../../storage/contract.ts';
import type { Whole } from '../variant.ts';
import type { Caching } from './caching.ts';
import type { Head } from './head.ts';
import type { AskedRange } from './range.ts';
import { exactly, whileAwaited } from './whole-bytes.ts';

/** What an answer says beside its bytes. */
export interface About {
  readonly head: Head;
  readonly caching: Caching;
  /** Other clients get other bytes, by their `Accept`. */
  readonly varies: boolean;
}

/** The row is there and its bytes are not: the same answer as for no row. */
export const missing = () => fail('FORBIDDEN', 'the bytes of the file are not in its storage');

/** Only now: an answer that turns out to be an error says nothing of a file. */
function describe(ctx: HttpContext, { head, caching, varies }: About, status: number): void {
  ctx.status = status;
  for (const [name, value] of head.fields) ctx.res.setHeader(name, value);
  ctx.res.setHeader('Cache-Control', caching.control);
  // Pages of other origins show what everybody may see, those too that let in nothing without such a word.
  if (caching.shared) ctx.res.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
  // Somebody else at the same browser has another answer coming.
  else ctx.vary(['Authorization', 'Cookie']);
  if (varies) ctx.vary('Accept');
}

export const sendUnchanged = (ctx: HttpContext, about: About): void => describe(ctx, about, 304);

/** What a `GET` would be answered, without the bytes. */
export function sendHead(ctx: HttpContext, about: About, size: number, part?: ByteRange): void {
  describe(ctx, about, part ? 206 : 200);
  ctx.res.setHeader('Content-Type', about.head.type);
  ctx.res.setHeader('Content-Length', part ? part.end - part.start + 1 : size);
  if (part) ctx.res.setHeader('Content-Range', rangeText(part, size));
}

export async function sendWhole(ctx: HttpContext, about: About, whole: Whole): Promise<void> {
  if (ctx.method === 'HEAD') {
    if (!whole.buffer) whole.bytes.destroy();
    return sendHead(ctx, about, whole.size);
  }
  if (!whole.buffer) return sendBytes(ctx, about, whole);
  sendHead(ctx, about, whole.size);
  ctx.body = whole.buffer;
}

export function refuseRange(ctx: HttpContext, asked: AskedRange, size: number): Error {
  ctx.res.setHeader('Content-Range', `bytes */${size}`);
  return fail('RANGE_NOT_SATISFIABLE', `The file has ${size} bytes.`, { range: asked });
}

/** A large object, or a part of one, as it is read. */
export async function sendBytes(
  ctx: HttpContext,
  about: About,
  { bytes, size }: Opened,
  part?: ByteRange,
): Promise<void> {
  const length = part ? part.end - part.start + 1 : size;
  // Waits for the first bytes: what fails until then is an ordinary error.
  await whileAwaited(bytes, () => sendStream(ctx, exactly(bytes, length), { type: about.head.type }));
  describe(ctx, about, part ? 206 : 200);
  ctx.res.setHeader('Content-Length', length);
  if (part) ctx.res.setHeader('Content-Range', rangeText(part, size));
}

/** Value of `Content-Range`. */
const rangeText = ({ start, end }: ByteRange, size: number): string => `bytes ${start}-${end}/${size}`;
