/** Options of `res.cookie`; `maxAge` in milliseconds. */
export interface CookieOptions {
  readonly maxAge?: number | null;
  readonly expires?: Date;
  readonly domain?: string;
  readonly path?: string;
  readonly secure?: boolean;
  readonly httpOnly?: boolean;
  readonly sameSite?: boolean | 'lax' | 'strict' | 'none';
}

const NAME = /^[\w!#$%&'*.^`|~+-]+$/;
const PART = /^[\x20-\x3a\x3c-\x7e]*$/;

/** Renders the value of a `Set-Cookie` header. */
export function renderCookie(name: string, value: string, options: CookieOptions): string {
  const { maxAge, domain, path = '/', secure, httpOnly, sameSite } = options;
  if (!NAME.test(name)) throw new TypeError('the name of a cookie has characters that it may not have');
  for (const part of [domain ?? '', path]) {
    if (!PART.test(part)) throw new TypeError('the domain or the path of a cookie has characters that it may not have');
  }
  const lasts = typeof maxAge === 'number';
  const expires = lasts ? new Date(Date.now() + maxAge) : options.expires;
  const same = sameSite === true ? 'strict' : sameSite;
  return [
    `${name}=${encodeURIComponent(value)}`,
    ...(lasts ? [`Max-Age=${Math.floor(maxAge / 1000)}`] : []),
    ...(domain ? [`Domain=${domain}`] : []),
    `Path=${path}`,
    ...(expires ? [`Expires=${expires.toUTCString()}`] : []),
    ...(httpOnly ? ['HttpOnly'] : []),
    ...(secure ? ['Secure'] : []),
    ...(same ? [`SameSite=${same[0]?.toUpperCase()}${same.slice(1)}`] : []),
  ].join('; ');
}
