import { fail } from '#kernel';
import type { HttpContext } from '../http/contract.ts';

export interface RefreshCookieConfig {
  readonly REFRESH_TOKEN_COOKIE_NAME: string;
  readonly REFRESH_TOKEN_COOKIE_SECURE: boolean;
  readonly REFRESH_TOKEN_COOKIE_SAME_SITE: 'lax' | 'strict' | 'none';
  readonly REFRESH_TOKEN_COOKIE_DOMAIN: string | undefined;
  readonly REFRESH_TOKEN_TTL: number;
}

export interface RefreshCookie {
  read(ctx: HttpContext): string | undefined;
  write(ctx: HttpContext, token: string): void;
  clear(ctx: HttpContext): void;
}

const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const DOMAIN = /^\.?[\w.-]+$/;
const SAME_SITE = { lax: 'Lax', strict: 'Strict', none: 'None' } as const;

/**
 * The cookie that carries the refresh token in mode `cookie`. The header is written without the cookie library, which refuses a
 * secure cookie on a connection without TLS, as all are behind a proxy.
 */
export function createRefreshCookie(config: RefreshCookieConfig): RefreshCookie {
  const name = config.REFRESH_TOKEN_COOKIE_NAME;
  const domain = config.REFRESH_TOKEN_COOKIE_DOMAIN;
  const secure = config.REFRESH_TOKEN_COOKIE_SECURE;
  const sameSite = config.REFRESH_TOKEN_COOKIE_SAME_SITE;
  if (!NAME.test(name)) throw fail('INVALID_CONFIG', 'REFRESH_TOKEN_COOKIE_NAME is not a name for a cookie');
  if (domain !== undefined && !DOMAIN.test(domain))
    throw fail('INVALID_CONFIG', 'REFRESH_TOKEN_COOKIE_DOMAIN is not a domain');
  if (sameSite === 'none' && !secure) {
    throw fail(
      'INVALID_CONFIG',
      'REFRESH_TOKEN_COOKIE_SAME_SITE=none needs REFRESH_TOKEN_COOKIE_SECURE=true: browsers drop the cookie otherwise',
    );
  }
  const attributes = [
    'Path=/',
    ...(domain === undefined ? [] : [`Domain=${domain}`]),
    'HttpOnly',
    ...(secure ? ['Secure'] : []),
    `SameSite=${SAME_SITE[sameSite]}`,
  ].join('; ');
  const set = (ctx: HttpContext, value: string, seconds: number) =>
    ctx.res.appendHeader('Set-Cookie', `${name}=${value}; Max-Age=${seconds}; ${attributes}`);

  return {
    read: (ctx) => cookieNamed(ctx.req.headers.cookie, name),
    write: (ctx, token) => void set(ctx, token, Math.floor(config.REFRESH_TOKEN_TTL / 1000)),
    clear: (ctx) => void set(ctx, '', 0),
  };
}

function cookieNamed(header: string | undefined, name: string): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const at = pair.indexOf('=');
    if (at !== -1 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim() || undefined;
  }
  return undefined;
}
