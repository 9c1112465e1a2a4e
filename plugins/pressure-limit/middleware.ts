import { fail, type Middleware } from '#kernel';

/** Paths that monitoring asks for: an overloaded process still lives, and the health says how it is. */
const ANSWERED_PATHS: readonly string[] = ['/server/ping', '/server/health', '/metrics'];

/**
 * Refuses requests while the process is overloaded, before anything else is done for them.
 * @param pressure what is over its limit; undefined while nothing is
 * @param retryAfter seconds for the header `Retry-After`
 * @param counts counts the refused requests
 */
export const createPressureLimitMiddleware = (
  pressure: () => string | undefined,
  retryAfter: number | undefined,
  counts: { refused: number },
): Middleware => ({
  name: 'pressure-limit',
  phase: 'limit',
  async handle(ctx, next) {
    if (pressure() === undefined || ANSWERED_PATHS.includes(ctx.path)) return next();
    counts.refused++;
    throw fail('SERVICE_UNAVAILABLE', 'The service is overloaded. Try again later.', {
      service: 'api',
      reason: 'under pressure',
      ...(retryAfter === undefined ? {} : { retryAfter }),
    });
  },
});
