import { fail, findJsonSchemaProblems } from '#kernel';
import type { HttpContext } from '../http/contract.ts';
import { clientInfoOf } from '../http/library.ts';
import type { CredentialsDriver } from './contract.ts';
import { delayFailures } from './failure-delay.ts';
import type { RefreshCookie } from './refresh-cookie.ts';
import type { SessionStore } from './sessions.ts';
import type { SignInHandler, SignInRequest, TokenPair } from './sign-in.ts';

export interface AuthRequestHandlersDeps {
  readonly signIn: SignInHandler;
  readonly local: CredentialsDriver;
  readonly sessions: SessionStore;
  readonly cookie: RefreshCookie;
  /** Milliseconds. */
  readonly accessLifetime: number;
  readonly stallTime: number;
}

/** The answer to a sign-in or refresh; in mode `cookie` the refresh token is in the cookie alone. `expires`: milliseconds. */
export interface TokenAnswer {
  readonly access_token: string;
  readonly expires: number;
  readonly refresh_token?: string;
}

/** Login, refresh and logout, as HTTP and GraphQL pass them on; `body` is what the client sent, unchecked. */
export interface AuthRequestHandlers {
  /** Signs in by e-mail address and password. */
  login(ctx: HttpContext, body: unknown): Promise<TokenAnswer>;
  /** Signs in by the credentials of another driver. */
  loginBy(ctx: HttpContext, driver: CredentialsDriver, body: unknown): Promise<TokenAnswer>;
  refresh(ctx: HttpContext, body: unknown): Promise<TokenAnswer>;
  logout(ctx: HttpContext, body: unknown): Promise<void>;
}

type Mode = 'json' | 'cookie';

const invalid = (field: string, expected: string) =>
  fail('INVALID_PAYLOAD', `"${field}" must be ${expected}`, { path: [field] });

export function createAuthRequestHandlers({
  signIn,
  local,
  sessions,
  cookie,
  accessLifetime,
  stallTime,
}: AuthRequestHandlersDeps): AuthRequestHandlers {
  function tokens(ctx: HttpContext, mode: Mode, { access, refresh }: TokenPair): TokenAnswer {
    if (mode === 'cookie') cookie.write(ctx, refresh);
    ctx.set('Cache-Control', 'no-store');
    return { access_token: access, expires: accessLifetime, ...(mode === 'json' ? { refresh_token: refresh } : {}) };
  }

  return {
    login: (ctx, body) =>
      delayFailures(stallTime, async () => {
        const fields = assertObject(body);
        const email = textField(fields, 'email');
        const password = textField(fields, 'password');
        if (email === undefined) throw invalid('email', 'given');
        if (password === undefined) throw invalid('password', 'given');
        const mode = parseMode(fields) ?? 'json';
        return tokens(ctx, mode, await signIn.login(local, { email, password }, toSignInRequest(ctx, fields)));
      }),

    loginBy: (ctx, driver, body) =>
      delayFailures(stallTime, async () => {
        const fields = assertObject(body);
        const mode = parseMode(fields) ?? 'json';
        const { mode: _mode, otp: _otp, ...credentials } = fields;
        const wrong = findJsonSchemaProblems(driver.schema, credentials);
        if (wrong.length > 0) throw fail('INVALID_PAYLOAD', wrong.join('; '));
        return tokens(ctx, mode, await signIn.login(driver, credentials, toSignInRequest(ctx, fields)));
      }),

    async refresh(ctx, body) {
      const fields = assertObject(body ?? {});
      const presented = textField(fields, 'refresh_token');
      const mode = parseMode(fields) ?? (presented === undefined ? 'cookie' : 'json');
      // In mode json the body token takes precedence over the cookie, in mode cookie the other way round.
      const fromCookie = cookie.read(ctx);
      const token = mode === 'json' ? (presented ?? fromCookie) : (fromCookie ?? presented);
      if (!token) throw fail('INVALID_CREDENTIALS', 'no refresh token');
      const answer = tokens(ctx, mode, await signIn.refresh(token, toSignInRequest(ctx, fields)));
      // The token in the cookie is spent, and the new one is in the body.
      if (mode === 'json' && token === fromCookie) cookie.clear(ctx);
      return answer;
    },

    async logout(ctx, body) {
      const fields = assertObject(body ?? {});
      parseMode(fields);
      const fromCookie = cookie.read(ctx);
      const token = textField(fields, 'refresh_token') ?? fromCookie;
      if (!token) throw fail('INVALID_CREDENTIALS', 'no refresh token');
      await sessions.close(token);
      if (token === fromCookie) cookie.clear(ctx);
    },
  };
}

const toSignInRequest = (ctx: HttpContext, { otp }: Record<string, unknown>): SignInRequest => ({
  caller: ctx.state.caller,
  client: Object.freeze(clientInfoOf(ctx)),
  otp: typeof otp === 'string' ? otp : undefined,
});

function assertObject(body: unknown): Record<string, unknown> {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw fail('INVALID_PAYLOAD', 'the body must be an object');
  return body as Record<string, unknown>;
}

function textField(fields: Record<string, unknown>, field: string): string | undefined {
  const value = fields[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw invalid(field, 'a text');
  return value;
}

function parseMode({ mode }: Record<string, unknown>): Mode | undefined {
  if (mode === undefined || mode === null) return undefined;
  if (mode !== 'json' && mode !== 'cookie') throw invalid('mode', 'json or cookie');
  return mode;
}
