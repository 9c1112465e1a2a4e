import { Failure, fail, type Middleware } from '#kernel';
import type { HttpContext, RoutingService } from '../http/contract.ts';
import { createClientKeyLookup } from './client-keys.ts';
import { setLimitHeaders } from './limit-headers.ts';
import type { LimitVerdict } from './limiter.ts';
import type { StartedLimiters } from './limiters.ts';

type Context = Parameters<Middleware['handle']>[0];

/** The key of all requests together. */
export const ALL_REQUESTS = 'all';
/** Codes of requests whose token, password or one-time code is wrong. An expired token was right once. */
const FAILED_AUTHENTICATION_CODES: readonly string[] = ['INVALID_TOKEN', 'INVALID_CREDENTIALS', 'INVALID_OTP'];

interface MiddlewareDeps {
  readonly routing: Pick<RoutingService, 'clientAddressOf'>;
  /** The limiters; none before the start. */
  readonly limiters: () => StartedLimiters;
  /** Points that failed authentication costs besides. */
  readonly failedAuthenticationPoints: number;
}

/**
 * Limits the requests of each client address and of all together, before the caller is identified, so that guesses of tokens are
 * limited too. A request that one address has no points for costs no points of all.
 */
export function createAddressLimitMiddleware({
  routing,
  limiters,
  failedAuthenticationPoints,
}: MiddlewareDeps): Middleware {
  const keyOf = createClientKeyLookup();
  return {
    name: 'rate-limit',
    phase: 'limit',
    async handle(ctx, next) {
      const { address, global } = limiters();
      if (!address || isPlainHealthRequest(ctx)) return next();
      const key = keyOf(routing.clientAddressOf(ctx));
      assertWithinLimit(ctx, await address.take(key));
      if (global) assertWithinLimit(ctx, await global.take(ALL_REQUESTS), { isShown: false });
      try {
        await next();
      } catch (error) {
        if (failedAuthenticationPoints > 0 && isFailedAuthentication(error))
          setLimitHeaders(ctx, await address.charge(key, failedAuthenticationPoints));
        throw error;
      }
    },
  };
}

/** Limits the requests of each user and with each static token. The caller is known in this phase. */
export const createCallerLimitMiddleware = (limiters: () => StartedLimiters): Middleware => ({
  name: 'rate-limit-of-callers',
  phase: 'cache',
  async handle(ctx, next) {
    const { user, token } = limiters();
    const { caller, usesStaticToken } = ctx.state as HttpContext['state'];
    if (caller.user !== null) {
      // A user has one static token.
      if (token && usesStaticToken) assertWithinLimit(ctx, await token.take(caller.user));
      if (user) assertWithinLimit(ctx, await user.take(caller.user));
    }
    await next();
  },
});

/**
 * Load balancers ask for the health often, and must not take a limited process for a dead one. Concurrent requests share one run
 * of the checks. A request that brings anything to identify a caller counts: it could be a guess.
 */
function isPlainHealthRequest({ path, method, req, querystring }: Context): boolean {
  if (path !== '/server/health' || (method !== 'GET' && method !== 'HEAD')) return false;
  const { authorization, cookie } = req.headers;
  return authorization === undefined && cookie === undefined && querystring === '';
}

/** @throws REQUESTS_EXCEEDED, with the members `limit` and `reset`. */
export function assertWithinLimit(ctx: Context, verdict: LimitVerdict, { isShown = true } = {}): void {
  if (isShown || verdict.isExceeded) setLimitHeaders(ctx, verdict);
  assertVerdict(verdict);
}

/** @throws REQUESTS_EXCEEDED, with the members `limit` and `reset`. */
export function assertVerdict(verdict: LimitVerdict): void {
  if (!verdict.isExceeded) return;
  const seconds = Math.ceil(verdict.resetIn / 1000);
  throw fail('REQUESTS_EXCEEDED', `Too many requests. Try again in ${seconds} s.`, {
    limit: verdict.limit,
    reset: new Date(Date.now() + verdict.resetIn).toISOString(),
  });
}

export const isFailedAuthentication = (error: unknown): boolean =>
  error instanceof Failure && FAILED_AUTHENTICATION_CODES.includes(error.code);
