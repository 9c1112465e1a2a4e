import { bodyOf, type Route, sendData } from '../http/contract.ts';
import type { Entry } from './entry.ts';

interface Deps {
  readonly entry: Entry;
  readonly disableDefault: boolean;
}

/** `/auth`: signing in by e-mail and password, staying signed in, signing out. */
export function authRoutes({ entry, disableDefault }: Deps): readonly Route[] {
  const login: Route = {
    method: 'POST',
    path: '/auth/login',
    handle: async (ctx) => sendData(ctx, await entry.login(ctx, bodyOf(ctx))),
  };

  const refresh: Route = {
    method: 'POST',
    path: '/auth/refresh',
    handle: async (ctx) => sendData(ctx, await entry.refresh(ctx, bodyOf(ctx))),
  };

  const logout: Route = {
    method: 'POST',
    path: '/auth/logout',
    handle: async (ctx) => sendData(ctx, await entry.logout(ctx, bodyOf(ctx))),
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
