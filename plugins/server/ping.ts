import type { Middleware } from '#kernel';
import type { AnsweringRoute, HttpContext } from '../http/contract.ts';

const ROUTE: AnsweringRoute = { path: '/server/ping', owner: '@tenon/server' };

/**
 * Answers `GET /server/ping` before callers are identified, because monitoring has no token. In the phase `limit`, behind the
 * limiters of the ground floor: rate limits count it.
 */
export const pingMiddleware: Middleware = {
  name: 'ping',
  phase: 'limit',
  async handle(ctx, next) {
    if (ctx.path !== '/server/ping' || (ctx.method !== 'GET' && ctx.method !== 'HEAD')) return next();
    (ctx.state as HttpContext['state']).route = ROUTE;
    ctx.type = 'text/plain; charset=utf-8';
    ctx.set('Cache-Control', 'no-store');
    ctx.body = 'pong';
  },
};
