import type { HttpContext } from '../http/contract.ts';

/** Browsers keep cookies of 4,096 bytes, with their names and attributes. */
const MAX_BYTES = 4000;

interface Options {
  readonly name: string;
  /** The path that the browser sends it to. */
  readonly path: string;
  readonly secure: boolean;
  readonly sameSite?: 'Lax' | 'None';
  /** Bytes of a value, at most; 4,000 by default. */
  readonly maxBytes?: number;
}

/** A cookie of a sign-in provider, which scripts cannot read. */
export interface ProviderCookie {
  get(ctx: HttpContext): string | undefined;
  /** Sets it for some milliseconds; false, and nothing is set, where the value is longer than browsers keep. */
  set(ctx: HttpContext, value: string, lifetime: number): boolean;
  /** Takes it from the browser. */
  clear(ctx: HttpContext): void;
}

export function createProviderCookie({
  name,
  path,
  secure,
  sameSite = 'Lax',
  maxBytes = MAX_BYTES,
}: Options): ProviderCookie {
  const attributes = `Path=${path}; HttpOnly; SameSite=${sameSite}${secure ? '; Secure' : ''}`;
  const write = (ctx: HttpContext, value: string, seconds: number) =>
    ctx.res.appendHeader('Set-Cookie', `${name}=${value}; Max-Age=${seconds}; ${attributes}`);
  return {
    get: (ctx) => ctx.cookies.get(name),
    set(ctx, value, lifetime) {
      if (value.length > maxBytes) return false;
      write(ctx, value, lifetime / 1000);
      return true;
    },
    clear: (ctx) => void write(ctx, '', 0),
  };
}
