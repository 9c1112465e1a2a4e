import { fail } from '#kernel';
import { bodyOf, clientOf, type HttpContext, type Route, sendData } from '../http/contract.ts';
import type { RefreshCookie } from './refresh-cookie.ts';
import type { Sessions } from './sessions.ts';
import type { Grant, SignIn } from './sign-in.ts';
import { stallFailures } from './stall.ts';

interface Deps {
  readonly signIn: SignIn;
  readonly sessions: Sessions;
  readonly cookie: RefreshCookie;
  readonly accessLifetime: number;
  readonly stallTime: number;
  readonly disableDefault: boolean;
}

type Mode = 'json' | 'cookie';

const invalid = (field: string, expected: string) =>
  fail('INVALID_PAYLOAD', `"${field}" must be ${expected}`, { path: [field] });

/** `/auth`: signing in by e-mail and password, staying signed in, signing out. */
export function authRoutes({
  signIn,
  sessions,
  cookie,
  accessLifetime,
  stallTime,
  disableDefault,
}: Deps): readonly Route[] {
  function answer(ctx: HttpContext, mode: Mode, { access, refresh }: Grant): void {
    if (mode === 'cookie') cookie.write(ctx, refresh);
    ctx.set('Cache-Control', 'no-store');
    sendData(ctx, {
      access_token: access,
      expires: accessLifetime,
      ...(mode === 'json' ? { refresh_token: refresh } : {}),
    });
  }

  const login: Route = {
    method: 'POST',
    path: '/auth/login',
    handle: (ctx) =>
      stallFailures(stallTime, async () => {
        const body = object(bodyOf(ctx));
        const email = text(body, 'email');
        const password = text(body, 'password');
        if (email === undefined) throw invalid('email', 'given');
        if (password === undefined) throw invalid('password', 'given');
        const mode = modeOf(body) ?? 'json';
        answer(ctx, mode, await signIn.login({ email, password }, clientOf(ctx), ctx.state.caller));
      }),
  };

  const refresh: Route = {
    method: 'POST',
    path: '/auth/refresh',
    async handle(ctx) {
      const body = object(bodyOf(ctx) ?? {});
      const given = text(body, 'refresh_token');
      const mode = modeOf(body) ?? (given === undefined ? 'cookie' : 'json');
      const token = mode === 'json' ? given : (cookie.read(ctx) ?? given);
      if (!token) throw fail('INVALID_CREDENTIALS', 'no refresh token');
      answer(ctx, mode, await signIn.refresh(token, clientOf(ctx), ctx.state.caller));
    },
  };

  const logout: Route = {
    method: 'POST',
    path: '/auth/logout',
    async handle(ctx) {
      const body = object(bodyOf(ctx) ?? {});
      modeOf(body);
      const fromCookie = cookie.read(ctx);
      const token = text(body, 'refresh_token') ?? fromCookie;
      if (!token) throw fail('INVALID_CREDENTIALS', 'no refresh token');
      await sessions.close(token);
      if (fromCookie !== undefined) cookie.clear(ctx);
      sendData(ctx, undefined);
    },
  };

  const providers: Route = {
    method: 'GET',
    path: '/auth',
    handle(ctx) {
      ctx.body = { data: [], disableDefault };
    },
  };

  return [...(disableDefault ? [] : [login]), refresh, logout, providers];
}

function object(body: unknown): Record<string, unknown> {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw fail('INVALID_PAYLOAD', 'the body must be an object');
  return body as Record<string, unknown>;
}

function text(body: Record<string, unknown>, field: string): string | undefined {
  const value = body[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw invalid(field, 'a text');
  return value;
}

function modeOf({ mode }: Record<string, unknown>): Mode | undefined {
  if (mode === undefined || mode === null) return undefined;
  if (mode !== 'json' && mode !== 'cookie') throw invalid('mode', 'json or cookie');
  return mode;
}
