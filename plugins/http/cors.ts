import type { Context } from 'koa';
import type { FindRoute } from './router.ts';
import type { HttpConfig } from './settings.ts';

/** Answers true where the request was a preflight and is answered. */
export type Cors = (ctx: Context) => boolean;

export function createCors(config: HttpConfig, findRoute: FindRoute): Cors {
  if (!config.CORS_ENABLED) return () => false;
  const allowed = new Set(config.CORS_ORIGIN);
  const anybody = allowed.has('*');
  const allow = (origin: string): string | undefined =>
    allowed.has('true') || allowed.has(origin) ? origin : anybody ? '*' : undefined;
  const preflight: Record<string, string> = {
    'Access-Control-Allow-Methods': config.CORS_METHODS.join(','),
    'Access-Control-Max-Age': String(config.CORS_MAX_AGE),
  };

  return (ctx) => {
    const { origin } = ctx.req.headers;
    const method = ctx.req.method === 'OPTIONS' ? ctx.req.headers['access-control-request-method'] : undefined;
    const asked = method !== undefined;
    const answer = origin === undefined ? undefined : allow(origin);
    if (answer !== undefined) {
      ctx.set('Access-Control-Allow-Origin', answer);
      // Browsers refuse credentials together with "anybody", and rightly so.
      if (config.CORS_CREDENTIALS && answer !== '*') ctx.set('Access-Control-Allow-Credentials', 'true');
      const own = findRoute(method ?? ctx.method, ctx.path)?.route.cors;
      if (asked) {
        ctx.set(preflight);
        ctx.set('Access-Control-Allow-Headers', listed(config.CORS_ALLOWED_HEADERS, own?.allowed));
      } else if (own || config.CORS_EXPOSED_HEADERS.length > 0) {
        ctx.set('Access-Control-Expose-Headers', listed(config.CORS_EXPOSED_HEADERS, own?.exposed));
      }
    }
    if (asked) ctx.status = 204;
    return asked;
  };
}

const listed = (configured: readonly string[], own: readonly string[] = []): string =>
  [...new Set([...configured, ...own])].join(',');
