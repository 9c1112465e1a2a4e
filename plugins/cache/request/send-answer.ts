import type { Caller } from '#kernel';
import type { CacheSettings } from '../settings.ts';
import type { CachedAnswer } from '../store/answer-store.ts';
import { decompressBody } from './compress.ts';
import type { RequestContext } from './request-context.ts';

/** Headers on which the answers to two requests for one URL may depend. `Accept-Encoding`: a stored body may be compressed. */
const VARY = ['Authorization', 'Cookie', 'Accept-Encoding'];

type CacheControlSettings = Pick<CacheSettings, 'revalidates' | 'sharedMaxAge'>;

/** How long the client and proxies may use an answer that the cache has (conventions, "Response rules"). */
function renderCacheControl({ revalidates, sharedMaxAge }: CacheControlSettings, caller: Caller, ms: number): string {
  if (revalidates) return 'no-cache';
  const maxAge = `max-age=${Math.max(0, Math.floor(ms / 1000))}`;
  return caller.role === null && caller.user === null && !caller.share && !caller.admin
    ? `public, ${maxAge}, s-maxage=${sharedMaxAge}`
    : `private, ${maxAge}`;
}

/** Sets the headers of an answer that is stored, on the request that made it and on those that get it from the store. */
export function setCacheHeaders(ctx: RequestContext, settings: CacheControlSettings, caller: Caller, ms: number): void {
  ctx.vary(VARY);
  // Answers to POST are not for caches of HTTP.
  if (ctx.method === 'GET') ctx.set('Cache-Control', renderCacheControl(settings, caller, ms));
  else ctx.set('Cache-Control', 'no-store');
}

/** Sends a stored answer: 304 to a client that has it, else its bytes, decompressed only for a client that does not accept gzip. */
export async function sendCachedAnswer(
  ctx: RequestContext,
  answer: CachedAnswer,
  settings: CacheControlSettings,
  caller: Caller,
): Promise<void> {
  ctx.status = 200;
  ctx.set('Content-Type', answer.type);
  ctx.set('Vary', answer.vary);
  setCacheHeaders(ctx, settings, caller, answer.expiresAt - Date.now());
  if (answer.etag !== undefined) {
    ctx.set('ETag', answer.etag);
    if (ctx.req.headers['if-none-match'] !== undefined && ctx.fresh) {
      ctx.status = 304;
      return;
    }
  }
  if (!answer.isCompressed) ctx.body = answer.body;
  else if (ctx.acceptsEncodings('gzip', 'identity') === 'gzip') {
    ctx.set('Content-Encoding', 'gzip');
    ctx.body = answer.body;
  } else ctx.body = await decompressBody(answer.body);
}
