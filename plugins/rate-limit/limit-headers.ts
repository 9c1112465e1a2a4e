import type { Middleware } from '#kernel';
import type { LimitVerdict } from './limiter.ts';

type Context = Parameters<Middleware['handle']>[0];

const RETRY_AFTER = 'Retry-After';
const LIMIT = 'RateLimit-Limit';
const REMAINING = 'RateLimit-Remaining';
const RESET = 'RateLimit-Reset';
const EXPOSED = [LIMIT, REMAINING, RESET, `X-${LIMIT}`, `X-${REMAINING}`, `X-${RESET}`, RETRY_AFTER].join(',');

/**
 * Tells the client what is left of a limit, by the headers of the IETF draft and by those with `X-`. Of several limits the one that
 * is nearest to its end is shown.
 */
export function setLimitHeaders(ctx: Context, { limit, remaining, resetIn, isExceeded }: LimitVerdict): void {
  const shown = ctx.res.getHeader(REMAINING);
  if (shown !== undefined && !isExceeded && Number(shown) <= remaining) return;
  const seconds = Math.ceil(resetIn / 1000);
  ctx.set({
    [LIMIT]: String(limit),
    [REMAINING]: String(remaining),
    [RESET]: String(seconds),
    [`X-${LIMIT}`]: String(limit),
    [`X-${REMAINING}`]: String(remaining),
    [`X-${RESET}`]: String(Math.ceil((Date.now() + resetIn) / 1000)),
    ...(isExceeded ? { [RETRY_AFTER]: String(seconds) } : {}),
  });
  if (shown === undefined) exposeToOtherOrigins(ctx);
}

/** The plugin `http` has answered the question of CORS before: scripts of allowed origins may read these headers too. */
function exposeToOtherOrigins(ctx: Context): void {
  if (!ctx.res.hasHeader('Access-Control-Allow-Origin')) return;
  const exposed = ctx.res.getHeader('Access-Control-Expose-Headers');
  ctx.set('Access-Control-Expose-Headers', exposed === undefined ? EXPOSED : `${exposed},${EXPOSED}`);
}
