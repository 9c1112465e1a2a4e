import { type CookieBrowser, createCookieBrowser } from '../../support/cookie-browser.ts';
import { findFreePort } from '../../support/free-port.ts';
import { type OpenIdServer, startOpenIdServer } from '../../support/openid-server.ts';
import { type InProcessService, type ServiceOptions, startService } from '../../support/service.ts';
import { providerSettings } from './check-run.ts';

/** A service with sign-in providers, all of one authorization server: `oidc` and `other` by OpenID Connect, `plain` by OAuth2. */
export interface ProviderFixture {
  readonly server: OpenIdServer;
  readonly service: InProcessService;
  /** Role of registered users, and the role of the group `editors`. */
  readonly roles: { readonly member: string; readonly editor: string };
  /** Signs in by a browser that begins at the service, and answers what the callback answers. */
  signIn(provider: string, options?: SignInOptions): Promise<SignInResult>;
  stop(): Promise<void>;
}

export interface SignInOptions {
  readonly browser?: CookieBrowser;
  readonly query?: string;
  /** Changes the address of the callback before the browser requests it. */
  readonly callback?: (url: URL) => void;
}

export interface SignInResult {
  readonly browser: CookieBrowser;
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
  readonly location: string | null;
  /** The code of the answer, or the `reason` of the redirect. */
  readonly code: string | undefined;
  /** The address of the callback that was requested; undefined where the sign-in did not get so far. */
  readonly callback: URL | undefined;
}

/** Settings of an OpenID provider of the server. */
export const openIdSettings = (name: string, server: OpenIdServer, more: Record<string, string> = {}) =>
  providerSettings(name, {
    DRIVER: 'openid',
    ISSUER_URL: server.issuer,
    CLIENT_ID: 'service',
    CLIENT_SECRET: server.secret,
    ...more,
  });

export const oauth2Settings = (name: string, server: OpenIdServer, more: Record<string, string> = {}) =>
  providerSettings(name, {
    DRIVER: 'oauth2',
    AUTHORIZE_URL: `${server.issuer}/authorize`,
    ACCESS_URL: `${server.issuer}/token`,
    PROFILE_URL: `${server.issuer}/userinfo`,
    CLIENT_ID: 'service',
    CLIENT_SECRET: server.secret,
    IDENTIFIER_KEY: 'sub',
    ...more,
  });

export const MEMBER = '00000000-0000-4000-8000-00000000000a';
export const EDITOR = '00000000-0000-4000-8000-00000000000b';

export async function startProviderFixture(
  options: ServiceOptions & { readonly providers?: (server: OpenIdServer) => Record<string, string> } = {},
): Promise<ProviderFixture> {
  const server = await startOpenIdServer();
  const port = await findFreePort();
  const common = { ALLOW_PUBLIC_REGISTRATION: 'true', DEFAULT_ROLE_ID: MEMBER };
  const env = {
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    ...openIdSettings('oidc', server, {
      ...common,
      SYNC_USER_INFO: 'true',
      ROLE_MAPPING: JSON.stringify({ editors: EDITOR }),
      REDIRECT_ALLOW_LIST: 'https://app.example.com/done',
    }),
    ...openIdSettings('other', server, common),
    ...oauth2Settings('plain', server, common),
    ...options.providers?.(server),
    ...options.env,
  };
  const service = await startService({ ...options, env }).catch(async (error) => {
    await server.stop();
    throw error;
  });
  for (const [id, name] of [
    [MEMBER, 'Members'],
    [EDITOR, 'Editors'],
  ] as const)
    await service.request('POST', '/roles', { token: service.admin.token, body: { id, name, app_access: true } });

  return {
    server,
    service,
    roles: { member: MEMBER, editor: EDITOR },
    signIn: (provider, signInOptions) => signInBy(service.url, provider, signInOptions),
    async stop() {
      await service.stop();
      await server.stop();
    },
  };
}

/** Signs in at the service at `url` by a provider that asks nothing. */
export async function signInBy(
  url: string,
  provider: string,
  { browser = createCookieBrowser(), query = '', callback }: SignInOptions = {},
): Promise<SignInResult> {
  const isCallback = (at: URL) => at.origin === url && at.pathname.endsWith('/callback');
  const first = await browser.follow(
    `${url}/auth/login/${provider}${query}`,
    (at) => isCallback(at) || isOfAnotherHost(url, at),
  );
  const at = isCallback(first.url) ? first.url : undefined;
  if (at) callback?.(at);
  const response = at ? await browser.send(at.href) : first.response;
  if (!response)
    return {
      browser,
      status: 302,
      body: undefined,
      location: first.url.href,
      code: reasonOf(first.url.href),
      callback: at,
    };
  const text = await response.text();
  const body = text === '' ? undefined : JSON.parse(text);
  const location = response.headers.get('location');
  const code = body?.errors?.[0]?.extensions?.code ?? reasonOf(location);
  return { browser, status: response.status, body, location, code, callback: at };
}

/** Whether an address is neither of the service nor of a server of the tests. */
const isOfAnotherHost = (url: string, at: URL): boolean =>
  (at.hostname !== '127.0.0.1' && at.hostname !== 'localhost') ||
  (at.origin === url && !at.pathname.startsWith('/auth/'));

const reasonOf = (location: string | null): string | undefined =>
  location === null ? undefined : (new URL(location).searchParams.get('reason') ?? undefined);

/** The user of an access token, with the fields that decide who it is. */
export async function userOf(service: InProcessService, email: string) {
  const [user] = await service.database.query<{
    id: string;
    role: string | null;
    provider: string;
    external_identifier: string;
    first_name: string | null;
    auth_data: unknown;
  }>('select id, role, provider, external_identifier, first_name, auth_data from platform_users where email = $1', [
    email,
  ]);
  return user;
}
