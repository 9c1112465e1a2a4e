import type { Caller } from '#kernel';
import type { CacheSettings } from '../settings.ts';
import type { CachedAnswer } from '../store/answer-store.ts';
import { decompressBody } from './compress.ts';
import type { RequestContext } from './request-context.ts';

/** Headers on which the answers to two requests for one URL may depend. `Accept-Encoding`: a stored body may be compressed. */
const VARY = ['Authorization', 'Cookie', 'Accept-Encoding'];

type CacheControlSettings = Pick<CacheSettings, 'revalidates' | 'sharedMaxAge'>;

/** What decides for how long the client and proxies may use an answer. */
interface AnswerUse {
  readonly caller: Caller;
  /** Milliseconds until the answer expires. */
  readonly ms: number;
  /** Whether only the service may keep the answer: it may depend on headers that `Vary` does not name. */
  readonly isNoStore: boolean;
}

/** How long the client and proxies may use an answer that the cache has (conventions, "Response rules"). */
function renderCacheControl(
  { method }: RequestContext,
  { revalidates, sharedMaxAge }: CacheControlSettings,
  { caller, ms, isNoStore }: AnswerUse,
): string {
  // Answers to POST are not for caches of HTTP.
  if (isNoStore || method !== 'GET') return 'no-store';
  if (revalidates) return 'no-cache';
  const maxAge = `max-age=${Math.max(0, Math.floor(ms / 1000))}`;
  return caller.role === null && caller.user === null && !caller.share && !caller.admin
    ? `public, ${maxAge}, s-maxage=${sharedMaxAge}`
    : `private, ${maxAge}`;
}

/** Sets the headers of an answer that is about to be stored. */
export function setCacheHeaders(ctx: RequestContext, settings: CacheControlSettings, use: AnswerUse): void {
  ctx.vary(VARY);
  ctx.set('Cache-Control', renderCacheControl(ctx, settings, use));
}

/** Sends a stored answer: 304 to a client that has it, else its bytes, decompressed only for a client that does not accept gzip. */
export async function sendCachedAnswer(
  ctx: RequestContext,
  answer: CachedAnswer,
  settings: CacheControlSettings,
  caller: Caller,
): Promise<void> {
  const { res } = ctx;
  ctx.status = 200;
  res.setHeader('Content-Type', answer.type);
  res.setHeader('Vary', answer.vary);
  const use = { caller, ms: answer.expiresAt - Date.now(), isNoStore: answer.isNoStore };
  res.setHeader('Cache-Control', renderCacheControl(ctx, settings, use));
  if (answer.etag !== undefined) {
    res.setHeader('ETag', answer.etag);
    if (ctx.req.headers['if-none-match'] !== undefined && ctx.fresh) {
      ctx.status = 304;
      return;
    }
  }
  if (!answer.isCompressed) ctx.body = answer.body;
  else if (ctx.acceptsEncodings('gzip', 'identity') === 'gzip') {
    res.setHeader('Content-Encoding', 'gzip');
    ctx.body = answer.body;
  } else ctx.body = await decompressBody(answer.body);
}
