import type { AccessControl } from '../access/contract.ts';
import type { HttpContext } from '../http/contract.ts';
import type { AccessTokenClaims } from './access-tokens.ts';
import type { RefreshCookie } from './refresh-cookie.ts';
import { isAddressAllowedForRole } from './role-ip-access.ts';
import type { SessionStore } from './sessions.ts';
import type { ShareSessions } from './share-sessions.ts';

interface Deps {
  readonly access: Pick<AccessControl, 'role'>;
  readonly cookie: Pick<RefreshCookie, 'read'>;
  readonly sessions: Pick<SessionStore, 'owner'>;
  readonly shareSessions: Pick<ShareSessions, 'claimsOf'>;
}

/** The claims of the session cookie of a request; undefined without a valid session. */
export type FindClaimsByCookie = (ctx: HttpContext, ip: string | null) => Promise<AccessTokenClaims | undefined>;

export interface CookieClaims {
  /** For requests without a token: only those that read assets. */
  readonly ofAssetRequest: FindClaimsByCookie;
  /** For pages that a browser opens. */
  readonly ofPageRequest: FindClaimsByCookie;
}

const ASSETS = '/assets/';

/**
 * A page loads images by their URL, and no script adds a token: for assets the session cookie authenticates (specification,
 * "Authentication", methods, 5). Only for reading assets, and only from pages of the same host. An expired cookie is no error, because
 * browsers keep sending cookies of sessions that have ended.
 */
export function createCookieClaims({ access, cookie, sessions, shareSessions }: Deps): CookieClaims {
  async function claimsOf(token: string, ip: string | null): Promise<AccessTokenClaims | undefined> {
    const owner = await sessions.owner(token);
    if (!owner) return shareSessions.claimsOf(token, ip);
    if (!(await isAddressAllowedForRole(access, owner.role, ip))) return undefined;
    return {
      id: owner.id,
      role: owner.role,
      admin_access: owner.admin_access ?? false,
      app_access: owner.app_access ?? false,
    };
  }

  return {
    async ofAssetRequest(ctx, ip) {
      if ((ctx.method !== 'GET' && ctx.method !== 'HEAD') || !ctx.path.startsWith(ASSETS)) return undefined;
      const token = cookie.read(ctx);
      return token === undefined || !isSameOrigin(ctx.req.headers) ? undefined : claimsOf(token, ip);
    },

    async ofPageRequest(ctx, ip) {
      const token = cookie.read(ctx);
      const { headers } = ctx.req;
      return token === undefined || !(isSameOrigin(headers) || isFollowedLink(ctx)) ? undefined : claimsOf(token, ip);
    },
  };
}

/** Whether a person opens the page: scripts of other hosts cannot read it then, nor show it in a frame. */
const isFollowedLink = ({ method, req: { headers } }: HttpContext): boolean =>
  method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';

/**
 * `Sec-Fetch-Site` names the relation of the requesting page to this host; clients that do not send it are judged by `Origin`.
 * Other hosts of the same site are refused as well.
 */
function isSameOrigin({ 'sec-fetch-site': site, origin, host }: HttpContext['req']['headers']): boolean {
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === host);
}
