import { fail } from '#kernel';
import type { Route, RoutingService } from '../http/contract.ts';
import { bodyOf, sendData } from '../http/library.ts';
import type { AuthRequestHandlers } from './auth-requests.ts';
import type { ContributedAuthDriver } from './contract.ts';
import { LOCAL_PROVIDER } from './local-driver.ts';
import {
  AUTH_PROVIDERS_ROUTE_DESCRIPTION,
  LOGIN_ROUTE_DESCRIPTION,
  LOGOUT_ROUTE_DESCRIPTION,
  PROVIDER_LOGIN_ROUTE_DESCRIPTION,
  REFRESH_ROUTE_DESCRIPTION,
} from './route-descriptions.ts';

interface Deps {
  readonly entry: AuthRequestHandlers;
  readonly disableDefault: boolean;
  readonly routing: Pick<RoutingService, 'readBody'>;
  /** The drivers that are contributed now, by provider. */
  readonly drivers: () => ReadonlyMap<string, ContributedAuthDriver>;
}

/** `/auth`: sign-in by e-mail address and password or another provider's credentials, refresh, sign-out. */
export function authRoutes({ entry, disableDefault, routing, drivers }: Deps): readonly Route[] {
  const login: Route = {
    method: 'POST',
    path: '/auth/login',
    description: LOGIN_ROUTE_DESCRIPTION,
    handle: async (ctx) => sendData(ctx, await entry.login(ctx, bodyOf(ctx))),
  };

  const loginBy: Route = {
    method: 'POST',
    path: '/auth/login/:provider',
    description: PROVIDER_LOGIN_ROUTE_DESCRIPTION,
    // The body of a request for an unknown provider stays unread, as for any path without a route.
    body: 'unread',
    async handle(ctx) {
      const provider = ctx.params.provider as string;
      const driver = provider === LOCAL_PROVIDER ? undefined : drivers().get(provider)?.driver;
      if (driver?.kind !== 'credentials')
        throw fail('ROUTE_NOT_FOUND', `Route ${ctx.path} doesn't exist.`, { path: ctx.path });
      const body = await routing.readBody(ctx as never);
      sendData(ctx, await entry.loginBy(ctx, driver, body));
    },
  };

  const refresh: Route = {
    method: 'POST',
    path: '/auth/refresh',
    description: REFRESH_ROUTE_DESCRIPTION,
    handle: async (ctx) => sendData(ctx, await entry.refresh(ctx, bodyOf(ctx))),
  };

  const logout: Route = {
    method: 'POST',
    path: '/auth/logout',
    description: LOGOUT_ROUTE_DESCRIPTION,
    handle: async (ctx) => sendData(ctx, await entry.logout(ctx, bodyOf(ctx))),
  };

  const providers: Route = {
    method: 'GET',
    path: '/auth',
    description: AUTH_PROVIDERS_ROUTE_DESCRIPTION,
    handle(ctx) {
      const others = [...drivers().values()].filter(({ terms }) => terms.provider !== LOCAL_PROVIDER);
      const data = others.map(({ terms }) => ({
        name: terms.provider,
        driver: terms.name,
        icon: terms.icon ?? null,
        label: terms.label ?? terms.provider,
      }));
      ctx.body = { data, disableDefault };
    },
  };

  return [...(disableDefault ? [] : [login]), loginBy, refresh, logout, providers];
}
