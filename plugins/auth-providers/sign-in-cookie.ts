import { createHash, timingSafeEqual } from 'node:crypto';
import { fail } from '#kernel';
import type { LinkTokens } from '../auth/contract.ts';
import type { HttpContext } from '../http/contract.ts';
import { createProviderCookie } from './provider-cookie.ts';

/** What is known of a sign-in between its begin and its callback. */
export interface PendingSignIn {
  readonly state: string;
  /** The whole address, which was checked at the begin. */
  readonly redirect: string | undefined;
  readonly mode: 'json' | 'cookie';
  readonly keep: Readonly<Record<string, unknown>>;
}

export interface SignInCookie {
  write(ctx: HttpContext, pending: PendingSignIn): void;
  /** Takes the cookie of this state from the browser. @throws INVALID_TOKEN, TOKEN_EXPIRED */
  take(ctx: HttpContext, state: string | null): PendingSignIn;
}

/** Milliseconds that a user has at the provider. */
export const SIGN_IN_LIFETIME = 10 * 60_000;
const PURPOSE = 'provider-sign-in';

interface Options {
  readonly provider: string;
  readonly path: string;
  readonly secure: boolean;
  /** The provider posts a form to the callback. */
  readonly crossSite: boolean;
  readonly linkTokens: LinkTokens;
}

/**
 * Keeps a pending sign-in in the browser that began it: signed, for ten minutes, for scripts invisible, and sent to the routes of its
 * provider only. A second sign-in by the same provider in this browser replaces the first.
 */
export function createSignInCookie({ provider, path, secure, crossSite, linkTokens }: Options): SignInCookie {
  // Browsers send no Lax cookie with a form of another site, and drop a None cookie that is not Secure.
  const sameSite = crossSite && secure ? 'None' : 'Lax';
  const cookie = createProviderCookie({ name: `service_sign_in_${provider}`, path, secure, sameSite });

  return {
    write(ctx, pending) {
      const token = linkTokens.sign(PURPOSE, { provider, ...pending }, SIGN_IN_LIFETIME);
      if (!cookie.set(ctx, token, SIGN_IN_LIFETIME))
        throw fail('INVALID_QUERY', 'The address that the sign-in is to end at is too long.');
    },
    take(ctx, state) {
      const token = cookie.get(ctx);
      if (!token) throw fail('INVALID_TOKEN', 'the browser brings no cookie of a sign-in that it began');
      const claims = linkTokens.verify(PURPOSE, token) as unknown as PendingSignIn & { readonly provider: string };
      // The cookie stays: a page of another site may have sent the browser here, while the user is at the provider.
      if (claims.provider !== provider || state === null || !isSameText(state, claims.state))
        throw fail('INVALID_TOKEN', 'the state is not that of the sign-in which this browser began');
      cookie.clear(ctx);
      return claims;
    },
  };
}

const digest = (text: string) => createHash('sha256').update(text).digest();
const isSameText = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
