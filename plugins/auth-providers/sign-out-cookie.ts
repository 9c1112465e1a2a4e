import type { HttpContext } from '../http/contract.ts';
import { createProviderCookie } from './provider-cookie.ts';

/** Keeps in the browser what the driver needs to sign it out at the provider. */
export interface SignOutCookie {
  write(ctx: HttpContext, hint: string): void;
  /** Takes the hint from the browser. */
  take(ctx: HttpContext): string | undefined;
}

/** Milliseconds. */
const LIFETIME = 30 * 24 * 60 * 60_000;
/** Bytes of the hint, at most. */
const MAX_BYTES = 3900;

/** The cookie is invisible for scripts, and sent to the address of the sign-out only. */
export function createSignOutCookie(provider: string, logoutUrl: string, secure: boolean): SignOutCookie {
  const path = new URL(logoutUrl).pathname;
  const cookie = createProviderCookie({ name: `service_sign_out_${provider}`, path, secure, maxBytes: MAX_BYTES });

  return {
    write(ctx, hint) {
      // Without it the provider asks the user.
      cookie.set(ctx, encodeURIComponent(hint), LIFETIME);
    },
    take(ctx) {
      const value = cookie.get(ctx);
      if (!value) return undefined;
      cookie.clear(ctx);
      return decodeText(value);
    },
  };
}

function decodeText(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}
