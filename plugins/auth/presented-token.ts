import { fail } from '#kernel';
import type { HttpContext } from '../http/contract.ts';
import { parsedQueryStringOf } from '../http/library.ts';

/**
 * The token of a request, from a header `Authorization: Bearer <token>`, else from `access_token` in the query. A header of any
 * other form counts as missing.
 */
export function presentedToken(ctx: HttpContext): string | undefined {
  const header = ctx.req.headers.authorization;
  if (header !== undefined) {
    const [scheme = '', token = '', ...more] = header.split(' ');
    if (more.length === 0 && token !== '' && scheme.toLowerCase() === 'bearer') return token;
  }
  if (!ctx.req.url?.includes('access_token')) return undefined;
  const { access_token: token } = parsedQueryStringOf(ctx);
  if (token === undefined || token === '') return undefined;
  if (typeof token !== 'string') throw fail('INVALID_QUERY', '"access_token" must be one text');
  return token;
}
