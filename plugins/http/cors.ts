import type { Context } from 'koa';
import type { FindRoute } from './router.ts';
import type { HttpConfig } from './settings.ts';

/** Sets the CORS headers. Returns true for a preflight, which is then answered. */
export type HandleCors = (ctx: Context) => boolean;

export function createCors(config: HttpConfig, findRoute: FindRoute): HandleCors {
  if (!config.CORS_ENABLED) return () => false;
  const allowed = new Set(config.CORS_ORIGIN);
  const allowsAnyOrigin = allowed.has('*');
  const toAllowedOrigin = (origin: string): string | undefined =>
    allowed.has('true') || allowed.has(origin) ? origin : allowsAnyOrigin ? '*' : undefined;
  const preflight: Record<string, string> = {
    'Access-Control-Allow-Methods': config.CORS_METHODS.join(','),
    'Access-Control-Max-Age': String(config.CORS_MAX_AGE),
  };

  return (ctx) => {
    const { origin } = ctx.req.headers;
    const method = ctx.req.method === 'OPTIONS' ? ctx.req.headers['access-control-request-method'] : undefined;
    const isPreflight = method !== undefined;
    const allowedOrigin = origin === undefined ? undefined : toAllowedOrigin(origin);
    if (allowedOrigin !== undefined) {
      ctx.set('Access-Control-Allow-Origin', allowedOrigin);
      // Browsers refuse credentials together with the origin "*".
      if (config.CORS_CREDENTIALS && allowedOrigin !== '*') ctx.set('Access-Control-Allow-Credentials', 'true');
      const routeCors = findRoute(method ?? ctx.method, ctx.path)?.route.cors;
      if (isPreflight) {
        ctx.set(preflight);
        ctx.set('Access-Control-Allow-Headers', joinHeaderNames(config.CORS_ALLOWED_HEADERS, routeCors?.allowed));
      } else if (routeCors || config.CORS_EXPOSED_HEADERS.length > 0) {
        ctx.set('Access-Control-Expose-Headers', joinHeaderNames(config.CORS_EXPOSED_HEADERS, routeCors?.exposed));
      }
    }
    if (isPreflight) ctx.status = 204;
    return isPreflight;
  };
}

const joinHeaderNames = (configured: readonly string[], ofRoute: readonly string[] = []): string =>
  [...new Set([...configured, ...ofRoute])].join(',');
