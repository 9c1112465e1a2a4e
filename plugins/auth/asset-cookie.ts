import type { Access } from '../access/contract.ts';
import type { HttpContext } from '../http/contract.ts';
import type { Claims } from './access-tokens.ts';
import type { RefreshCookie } from './refresh-cookie.ts';
import { isAdmitted } from './role-address.ts';
import type { Sessions } from './sessions.ts';

interface Deps {
  readonly access: Pick<Access, 'role'>;
  readonly cookie: Pick<RefreshCookie, 'read'>;
  readonly sessions: Pick<Sessions, 'owner'>;
}

/** Whom a request without a token is from by its cookie; undefined where that says nothing. */
export type FindByCookie = (ctx: HttpContext, ip: string | null) => Promise<Claims | undefined>;

const ASSETS = '/assets/';

/**
 * Pages show images by their address alone, to which no script adds a token: there the cookie counts (specification,
 * "Authentication", methods, 5). Only for reading assets, only from pages of this very host, and never as an error: browsers
 * carry cookies of sessions that are long over.
 */
export const findByCookie =
  ({ access, cookie, sessions }: Deps): FindByCookie =>
  async (ctx, ip) => {
    if ((ctx.method !== 'GET' && ctx.method !== 'HEAD') || !ctx.path.startsWith(ASSETS)) return undefined;
    const token = cookie.read(ctx);
    if (token === undefined || !isOwnPage(ctx.req.headers)) return undefined;
    const owner = await sessions.owner(token);
    if (!owner || !(await isAdmitted(access, owner.role, ip))) return undefined;
    return {
      id: owner.id,
      role: owner.role,
      admin_access: owner.admin_access ?? false,
      app_access: owner.app_access ?? false,
    };
  };

/**
 * Browsers say by `Sec-Fetch-Site` whether a page of another site or host asks; those that do not, and plain programs, are
 * known by their `Origin` alone. Neighbouring hosts of the same site are strangers too.
 */
function isOwnPage({ 'sec-fetch-site': site, origin, host }: HttpContext['req']['headers']): boolean {
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === host);
}
