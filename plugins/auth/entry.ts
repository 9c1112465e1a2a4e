import { fail, problems } from '#kernel';
import type { HttpContext } from '../http/contract.ts';
import { clientOf } from '../http/library.ts';
import type { CredentialsDriver } from './contract.ts';
import type { RefreshCookie } from './refresh-cookie.ts';
import type { Sessions } from './sessions.ts';
import type { Grant, SignIn, SignInRequest } from './sign-in.ts';
import { stallFailures } from './stall.ts';

export interface EntryDeps {
  readonly signIn: SignIn;
  readonly local: CredentialsDriver;
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
  /** By e-mail address and password. */
  login(ctx: HttpContext, asked: unknown): Promise<Tokens>;
  /** By the credentials of another driver. */
  loginBy(ctx: HttpContext, driver: CredentialsDriver, asked: unknown): Promise<Tokens>;
  refresh(ctx: HttpContext, asked: unknown): Promise<Tokens>;
  logout(ctx: HttpContext, asked: unknown): Promise<void>;
}

type Mode = 'json' | 'cookie';

const invalid = (field: string, expected: string) =>
  fail('INVALID_PAYLOAD', `"${field}" must be ${expected}`, { path: [field] });

export function createEntry({ signIn, local, sessions, cookie, accessLifetime, stallTime }: EntryDeps): Entry {
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
        return tokens(ctx, mode, await signIn.login(local, { email, password }, requestOf(ctx, given)));
      }),

    loginBy: (ctx, driver, asked) =>
      stallFailures(stallTime, async () => {
        const given = object(asked);
        const mode = modeOf(given) ?? 'json';
        const { mode: _mode, otp: _otp, ...credentials } = given;
        const wrong = problems(driver.schema, credentials);
        if (wrong.length > 0) throw fail('INVALID_PAYLOAD', wrong.join('; '));
        return tokens(ctx, mode, await signIn.login(driver, credentials, requestOf(ctx, given)));
      }),

    async refresh(ctx, asked) {
      const given = object(asked ?? {});
      const presented = text(given, 'refresh_token');
      const mode = modeOf(given) ?? (presented === undefined ? 'cookie' : 'json');
      // The token of the body counts before that of the cookie where the answer goes into the body.
      const fromCookie = cookie.read(ctx);
      const token = mode === 'json' ? (presented ?? fromCookie) : (fromCookie ?? presented);
      if (!token) throw fail('INVALID_CREDENTIALS', 'no refresh token');
      const answer = tokens(ctx, mode, await signIn.refresh(token, requestOf(ctx, given)));
      // The cookie's token is spent, and the new one is in the body.
      if (mode === 'json' && token === fromCookie) cookie.clear(ctx);
      return answer;
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

const requestOf = (ctx: HttpContext, { otp }: Record<string, unknown>): SignInRequest => ({
  caller: ctx.state.caller,
  client: Object.freeze(clientOf(ctx)),
  otp: typeof otp === 'string' ? otp : undefined,
});

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
