import { fail } from '#kernel';
import type { ProviderSignIns } from '../auth-providers/contract.ts';
import { readFormBody } from '../auth-providers/library.ts';
import type { HttpContext, Route, RoutingService } from '../http/contract.ts';
import { sendData } from '../http/library.ts';
import type { SamlName } from './assertion.ts';
import type { SamlProvider } from './driver.ts';
import type { LogoutFields, SamlLogout } from './logout.ts';
import type { LogoutCookie } from './logout-cookie.ts';
import { ACS_ROUTE_DESCRIPTION, LOGOUT_ROUTE_DESCRIPTION, METADATA_ROUTE_DESCRIPTION } from './route-descriptions.ts';

/** A provider with what its routes need. */
export interface RoutedSamlProvider {
  readonly provider: SamlProvider;
  readonly cookie: LogoutCookie;
  readonly logout: SamlLogout;
}

interface Deps {
  readonly signIns: ProviderSignIns;
  readonly routing: Pick<RoutingService, 'readBody'>;
  /** The open providers by name. */
  readonly providers: ReadonlyMap<string, RoutedSamlProvider>;
  /** The names of users whom the driver has proven, by the parameters of their callback. */
  readonly provenNames: WeakMap<URLSearchParams, SamlName>;
}

/** Bytes of a form that an identity provider posts by the browser: a response in base64, percent-encoded. */
const MAX_FORM = 300_000;

/** The routes of the specification's table that only SAML has. */
export function samlRoutes({ signIns, routing, providers, provenNames }: Deps): readonly Route[] {
  function find(ctx: HttpContext): RoutedSamlProvider {
    const found = providers.get(ctx.params.provider as string);
    if (!found) throw fail('ROUTE_NOT_FOUND', `Route ${ctx.path} doesn't exist.`, { path: ctx.path });
    return found;
  }

  const acs: Route = {
    method: 'POST',
    path: '/auth/login/:provider/acs',
    description: ACS_ROUTE_DESCRIPTION,
    body: 'unread',
    async handle(ctx) {
      const { provider, cookie } = find(ctx);
      const parameters = await readFormBody(ctx, MAX_FORM);
      try {
        await signIns.complete(ctx, provider.settings.name, { state: parameters.get('RelayState'), parameters });
      } finally {
        // Also where the sign-in waits for a code: its session then ends at the identity provider as well.
        const name = provenNames.get(parameters);
        if (name) cookie.write(ctx, name);
      }
    },
  };

  const metadata: Route = {
    method: 'GET',
    path: '/auth/login/:provider/metadata',
    description: METADATA_ROUTE_DESCRIPTION,
    async handle(ctx) {
      ctx.body = await find(ctx).provider.sp.metadata();
      ctx.type = 'application/samlmetadata+xml';
    },
  };

  const logout: Route = {
    method: 'POST',
    path: '/auth/login/:provider/logout',
    description: LOGOUT_ROUTE_DESCRIPTION,
    body: 'unread',
    async handle(ctx) {
      const routed = find(ctx);
      ctx.set('Cache-Control', 'no-store');
      if (!ctx.request.is('application/x-www-form-urlencoded')) {
        const fields = ((await routing.readBody(ctx as never)) ?? {}) as LogoutFields;
        const location = await routed.logout.begin(ctx, routed.provider, routed.cookie, fields);
        return sendData(ctx, { location: location ?? null });
      }
      const form = await readFormBody(ctx, MAX_FORM);
      sendOn(ctx, await handleForm(ctx, routed, form));
    },
  };
  return [acs, metadata, logout];
}

function handleForm(ctx: HttpContext, { provider, cookie, logout }: RoutedSamlProvider, form: URLSearchParams) {
  if (form.has('SAMLRequest')) return logout.answer(provider, form);
  if (form.has('SAMLResponse')) return logout.finish(provider, form);
  return logout.begin(ctx, provider, cookie, Object.fromEntries(form));
}

function sendOn(ctx: HttpContext, location: string | undefined): void {
  ctx.body = null;
  ctx.status = location === undefined ? 204 : 303;
  if (location !== undefined) ctx.set({ Location: location, 'Referrer-Policy': 'no-referrer' });
}
