import type { HttpContext } from '../http/contract.ts';

/** Keeps in the browser what the driver needs to sign it out at the provider. */
export interface SignOutCookie {
  write(ctx: HttpContext, hint: string): void;
  /** Takes the hint from the browser. */
  take(ctx: HttpContext): string | undefined;
}

/** Seconds. */
const LIFETIME = 30 * 24 * 60 * 60;
/** Browsers keep cookies of 4,096 bytes. */
const MAX_BYTES = 3900;

/** The cookie is invisible for scripts, and sent to the address of the sign-out only. */
export function createSignOutCookie(provider: string, logoutUrl: string, secure: boolean): SignOutCookie {
  const name = `service_sign_out_${provider}`;
  const attributes = `Path=${new URL(logoutUrl).pathname}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  const set = (ctx: HttpContext, value: string, seconds: number) =>
    ctx.res.appendHeader('Set-Cookie', `${name}=${value}; Max-Age=${seconds}; ${attributes}`);

  return {
    write(ctx, hint) {
      const value = encodeURIComponent(hint);
      // Without it the provider asks the user.
      if (value.length <= MAX_BYTES) set(ctx, value, LIFETIME);
    },
    take(ctx) {
      const value = ctx.cookies.get(name);
      if (!value) return undefined;
      set(ctx, '', 0);
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
