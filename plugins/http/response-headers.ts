import { crc32 } from 'node:zlib';
import type { Context } from 'koa';
import type { HttpConfig } from './settings.ts';

/** Headers of every response. A handler whose content a browser displays replaces those that do not fit. */
export const createDefaultHeaders = (config: HttpConfig): ReadonlyMap<string, string> =>
  new Map([
    ['Cache-Control', 'no-cache'],
    ['Vary', 'Origin, Cache-Control'],
    ['X-Content-Type-Options', 'nosniff'],
    ['X-Frame-Options', 'DENY'],
    ['Referrer-Policy', 'no-referrer'],
    ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
    ...(config.HSTS_ENABLED
      ? [['Strict-Transport-Security', `max-age=${Math.floor(config.HSTS_MAX_AGE / 1000)}; includeSubDomains`] as const]
      : []),
  ]);

/** Sets an entity tag on JSON, and answers 304 to a client that already has it. */
export function answerNotModified(ctx: Context): void {
  const { body } = ctx;
  if (typeof body !== 'string' || ctx.status !== 200 || (ctx.method !== 'GET' && ctx.method !== 'HEAD')) return;
  if (!ctx.res.hasHeader('ETag')) ctx.res.setHeader('ETag', entityTagOf(body));
  if (ctx.req.headers['if-none-match'] !== undefined && ctx.fresh) ctx.status = 304;
}

/** The entity tag of a body of JSON: weak, since the bytes may be compressed on the way. */
export const entityTagOf = (body: string): string => `W/"${body.length.toString(36)}-${crc32(body).toString(36)}"`;
