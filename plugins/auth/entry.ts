import { fail } from '#kernel';
import { clientOf, type HttpContext } from '../http/contract.ts';
import type { RefreshCookie } from './refresh-cookie.ts';
import type { Sessions } from './sessions.ts';
import type { Grant, SignIn } from './sign-in.ts';
import { stallFailures } from './stall.ts';

export interface EntryDeps {
  readonly signIn: SignIn;
  readonly sessions: Sessions;
  readonly cookie: RefreshCookie;
  /** Milliseconds. */
  readonly accessLifetime: number;
  readonly stallTime: number;
}

/** What somebody is given who came in; in mode `cookie` the refresh token is in a cookie alone. */
export interface Tokens {
  readonly access_token: string;
  readonly expires: number;
  readonly refresh_token?: string;
}

/** Coming in, staying in and leaving, as a request asks for it; `asked` is what the client sent, unchecked. */
export interface Entry {
  login(ctx: HttpContext, asked: unknown): Promise<Tokens>;
  refresh(ctx: HttpContext, asked: unknown): Promise<Tokens>;
  logout(ctx: HttpContext, asked: unknown): Promise<void>;
}

type Mode = 'json' | 'cookie';

const invalid = (field: string, expected: string) =>
  fail('INVALID_PAYLOAD', `"${field}" must be ${expected}`, { path: [field] });

export function createEntry({ signIn, sessions, cookie, accessLifetime, stallTime }: EntryDeps): Entry {
  function tokens(ctx: HttpContext, mode: Mode, { access, refresh }: Grant): Tokens {
    if (mode === 'cookie') cookie.write(ctx, refresh);
    ctx.set('Cache-Control', 'no-store');
    return { access_token: access, expires: accessLifetime, ...(mode === 'json' ? { refresh_token: refresh } : {}) };
  }

  return {
    login: (ctx, asked) =>
      stallFailures(stallTime, async () => {
        const given = object(asked);
        const email = text(given, 'email');
        const password = text(given, 'password');
        if (email === undefined) throw invalid('email', 'given');
        if (password === undefined) throw invalid('password', 'given');
        const mode = modeOf(given) ?? 'json';
        return tokens(ctx, mode, await signIn.login({ email, password }, clientOf(ctx), ctx.state.caller));
      }),

    async refresh(ctx, asked) {
      const given = object(asked ?? {});
      const presented = text(given, 'refresh_token');
      const mode = modeOf(given) ?? (presented === undefined ? 'cookie' : 'json');
      const token = mode === 'json' ? presented : (cookie.read(ctx) ?? presented);
      if (!token) throw fail('INVALID_CREDENTIALS', 'no refresh token');
      return tokens(ctx, mode, await signIn.refresh(token, clientOf(ctx), ctx.state.caller));
    },

    async logout(ctx, asked) {
      const given = object(asked ?? {});
      modeOf(given);
      const fromCookie = cookie.read(ctx);
      const token = text(given, 'refresh_token') ?? fromCookie;
      if (!token) throw fail('INVALID_CREDENTIALS', 'no refresh token');
      await sessions.close(token);
      if (fromCookie !== undefined) cookie.clear(ctx);
    },
  };
}

function object(asked: unknown): Record<string, unknown> {
  if (typeof asked !== 'object' || asked === null || Array.isArray(asked))
    throw fail('INVALID_PAYLOAD', 'the body must be an object');
  return asked as Record<string, unknown>;
}

function text(given: Record<string, unknown>, field: string): string | undefined {
  const value = given[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw invalid(field, 'a text');
  return value;
}

function modeOf({ mode }: Record<string, unknown>): Mode | undefined {
  if (mode === undefined || mode === null) return undefined;
  if (mode !== 'json' && mode !== 'cookie') throw invalid('mode', 'json or cookie');
  return mode;
}
