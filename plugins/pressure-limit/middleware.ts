import { fail, type Middleware } from '#kernel';
import type { PressureLimit } from './contract.ts';

/** Paths that monitoring asks for: an overloaded process still lives, and the health says how it is. */
const ANSWERED_PATHS: readonly string[] = ['/server/ping', '/server/health', '/metrics'];

/** Refuses requests while the process is overloaded, before anything else is done for them. */
export const createPressureLimitMiddleware = (limit: PressureLimit): Middleware => ({
  name: 'pressure-limit',
  phase: 'limit',
  async handle(ctx, next) {
    if (!ANSWERED_PATHS.includes(ctx.path)) limit.assertNotOverloaded();
    return next();
  },
});

/**
 * The service `pressure-limit`.
 * @param pressure what is over its limit; undefined while nothing is
 * @param retryAfter seconds for the header `Retry-After`
 * @param counts counts what was refused
 */
export const createPressureLimit = (
  pressure: () => string | undefined,
  retryAfter: number | undefined,
  counts: { refused: number },
): PressureLimit => ({
  assertNotOverloaded() {
    if (pressure() === undefined) return;
    counts.refused++;
    throw fail('SERVICE_UNAVAILABLE', 'The service is overloaded. Try again later.', {
      service: 'api',
      reason: 'under pressure',
      ...(retryAfter === undefined ? {} : { retryAfter }),
    });
  },
});
