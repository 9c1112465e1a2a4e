import { Failure } from '#kernel';
import type { LinkTokens } from '../auth/contract.ts';
import type { HttpContext } from '../http/contract.ts';
import type { SamlName } from './assertion.ts';

/** Keeps in the browser what the identity provider calls its user, for a logout that begins here. */
export interface LogoutCookie {
  write(ctx: HttpContext, name: SamlName): void;
  /** Takes the name from the browser; undefined where the browser has none that is valid. */
  take(ctx: HttpContext): SamlName | undefined;
}

/** Milliseconds. */
const LIFETIME = 90 * 24 * 60 * 60_000;
const PURPOSE = 'saml-logout';
/** Browsers keep cookies of 4,096 bytes. */
const MAX_BYTES = 4000;

/** The cookie is signed, invisible for scripts, and sent to `logoutUrl` only. */
export function createLogoutCookie(provider: string, logoutUrl: string, linkTokens: LinkTokens): LogoutCookie {
  const name = `service_saml_${provider}`;
  const { pathname, protocol } = new URL(logoutUrl);
  const attributes = `Path=${pathname}; HttpOnly; SameSite=Lax${protocol === 'https:' ? '; Secure' : ''}`;
  const set = (ctx: HttpContext, value: string, seconds: number) =>
    ctx.res.appendHeader('Set-Cookie', `${name}=${value}; Max-Age=${seconds}; ${attributes}`);

  return {
    write(ctx, samlName) {
      const token = linkTokens.sign(PURPOSE, { provider, name: samlName }, LIFETIME);
      // Without the cookie a logout ends the session here only.
      if (token.length <= MAX_BYTES) set(ctx, token, LIFETIME / 1000);
    },
    take(ctx) {
      const token = ctx.cookies.get(name);
      if (!token) return undefined;
      set(ctx, '', 0);
      try {
        const claims = linkTokens.verify(PURPOSE, token);
        return claims.provider === provider ? (claims.name as SamlName) : undefined;
      } catch (error) {
        if (error instanceof Failure) return undefined;
        throw error;
      }
    },
  };
}
