import { type CookieBrowser, createCookieBrowser } from '../../support/cookie-browser.ts';
import type { FreshDatabase } from '../../support/database.ts';
import { findFreePort } from '../../support/free-port.ts';
import {
  type PostedForm,
  type SamlIdentityProvider,
  type SamlUser,
  startSamlIdentityProvider,
} from '../../support/saml-identity-provider.ts';
import { type InProcessService, type ServiceOptions, startService } from '../../support/service.ts';

/** A service with the provider `corp`, whose identity provider is that of the test. */
export interface SamlFixture {
  readonly idp: SamlIdentityProvider;
  readonly service: InProcessService;
  readonly database: FreshDatabase;
  /** Signs in by a browser; `change` changes the form before the browser posts it. */
  signIn(user: SamlUser, options?: SamlSignInOptions): Promise<SamlSignIn>;
  stop(): Promise<void>;
}

export interface SamlSignInOptions {
  readonly browser?: CookieBrowser;
  /** The query of `GET /auth/login/corp`. */
  readonly query?: string;
  readonly change?: (form: PostedForm, request: URL) => PostedForm | Promise<PostedForm>;
}

export interface SamlSignIn {
  readonly browser: CookieBrowser;
  /** The form as it was posted. */
  readonly form: PostedForm;
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
  readonly location: string | null;
  /** Status and code of a refusal; undefined where there is none. */
  readonly refusal: string | undefined;
}

export const samlSettings = (idp: SamlIdentityProvider, more: Readonly<Record<string, string>> = {}) =>
  Object.fromEntries(
    Object.entries({
      DRIVER: 'saml',
      IDP_metadata: idp.metadata,
      ALLOW_PUBLIC_REGISTRATION: 'true',
      REDIRECT_ALLOW_LIST: 'https://app.example.com/done',
      ...more,
    }).flatMap(([key, value]) => (value === '' ? [] : [[`AUTH_CORP_${key}`, value]])),
  );

/** Starts identity provider and service. `settings` are those of the provider, without their prefix. */
export async function startSamlFixture(
  settings: Readonly<Record<string, string>> = {},
  options: ServiceOptions = {},
): Promise<SamlFixture> {
  const idp = await startSamlIdentityProvider();
  try {
    const service = await startSamlService(idp, settings, options);
    return {
      idp,
      service,
      database: service.database,
      signIn: (user, signInOptions) => signInAt(service.url, idp, user, signInOptions),
      async stop() {
        await service.stop();
        await idp.stop();
      },
    };
  } catch (error) {
    await idp.stop();
    throw error;
  }
}

/** Starts a service whose provider `corp` is `idp`, and makes the identity provider know it. */
export async function startSamlService(
  idp: SamlIdentityProvider,
  settings: Readonly<Record<string, string>> = {},
  options: ServiceOptions = {},
): Promise<InProcessService> {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  idp.spMetadataUrl = `${url}/auth/login/corp/metadata`;
  return startService({
    ...options,
    env: { PORT: String(port), PUBLIC_URL: url, ...samlSettings(idp, settings), ...options.env },
  });
}

export async function signInAt(
  url: string,
  idp: SamlIdentityProvider,
  user: SamlUser,
  { browser = createCookieBrowser(), query = '', change = (form) => form }: SamlSignInOptions = {},
): Promise<SamlSignIn> {
  idp.user = user;
  const begin = await browser.send(`${url}/auth/login/corp${query}`);
  const location = begin.headers.get('location');
  if (location === null) throw new Error(`the sign-in does not begin: ${begin.status} ${await begin.text()}`);
  const request = new URL(location);
  const form = await change(await idp.respond(request), request);
  return postForm(browser, form);
}

/** Posts a form as the browser does, and does not follow a redirect. */
export async function postForm(browser: CookieBrowser, form: PostedForm): Promise<SamlSignIn> {
  const response = await browser.send(form.action, { method: 'POST', body: new URLSearchParams(form.fields) });
  const text = await response.text();
  const body = text === '' ? undefined : JSON.parse(text);
  const location = response.headers.get('location');
  const code = body?.errors?.[0]?.extensions?.code ?? (location && new URL(location).searchParams.get('reason'));
  return {
    browser,
    form,
    status: response.status,
    body,
    location,
    refusal: code ? `${response.status} ${code}` : undefined,
  };
}

/** The XML of a form's response, and the form with another one. */
export const xmlOf = (form: PostedForm, field = 'SAMLResponse'): string =>
  Buffer.from(form.fields[field] ?? '', 'base64').toString();
export const withXml = (form: PostedForm, xml: string, field = 'SAMLResponse'): PostedForm => ({
  ...form,
  fields: { ...form.fields, [field]: Buffer.from(xml).toString('base64') },
});

export const usersOf = (database: FreshDatabase, identifier: string) =>
  database.query<Record<string, string | null>>(
    'select id, provider, external_identifier, email, first_name, last_name, role, status from platform_users where external_identifier = $1',
    [identifier],
  );
