import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as samlify from 'samlify';
import { IDP_CERTIFICATE, IDP_KEY } from './saml-keys.ts';

/** A user of the identity provider. `name` is the NameID. */
export interface SamlUser {
  readonly name: string;
  readonly email?: string;
  readonly groups?: readonly string[];
  readonly attributes?: Readonly<Record<string, string>>;
}

/** A form that the identity provider makes the browser post to the service. */
export interface PostedForm {
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** Methods of encryption, by their URIs. */
export interface SamlEncryption {
  readonly data: string;
  readonly key: string;
}

export const GCM_ENCRYPTION: SamlEncryption = {
  data: 'http://www.w3.org/2009/xmlenc11#aes256-gcm',
  key: 'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p',
};

/** An identity provider of SAML 2.0 by the package samlify. It asks for no password: who signs in is `user`. */
export interface SamlIdentityProvider {
  readonly entityId: string;
  readonly metadataUrl: string;
  readonly metadata: string;
  user: SamlUser;
  /** The address of the service's metadata, which the provider reads with each message. */
  spMetadataUrl: string;
  /** Assertions are encrypted with the key of the service's metadata, by GCM where nothing else is said. */
  encrypts: boolean;
  encryption: SamlEncryption;
  /** Answers to logouts that the provider began: how often the service said that it succeeded. */
  readonly successfulLogouts: number;
  /** How often the metadata were fetched. */
  readonly metadataRequests: number;
  /** The response to a request that a browser brings. */
  respond(request: URL): Promise<PostedForm>;
  /** The answer to a logout that a browser brings, and the name that it is for. */
  answerLogout(request: URL): Promise<PostedForm & { readonly name: string }>;
  /** The request of a logout that the provider begins. */
  beginLogout(name: string): Promise<PostedForm>;
  stop(): Promise<void>;
}

samlify.setSchemaValidator({ validate: async () => 'the tests do not validate schemas' });

const REDIRECT = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';
const NAME_FORMAT = 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified';

export async function startSamlIdentityProvider(host = 'localhost'): Promise<SamlIdentityProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://${host}:${(server.address() as AddressInfo).port}`;
  let successfulLogouts = 0;
  let metadataRequests = 0;

  const createIdp = (encrypts: boolean, { data, key } = GCM_ENCRYPTION) =>
    samlify.IdentityProvider({
      entityID: `${origin}/metadata`,
      privateKey: IDP_KEY,
      signingCert: IDP_CERTIFICATE,
      requestSignatureAlgorithm: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
      isAssertionEncrypted: encrypts,
      // The service has a key then, and signs with it.
      wantAuthnRequestsSigned: encrypts,
      wantLogoutRequestSigned: true,
      wantLogoutResponseSigned: true,
      dataEncryptionAlgorithm: data,
      keyEncryptionAlgorithm: key,
      nameIDFormat: [NAME_FORMAT],
      singleSignOnService: [{ Binding: REDIRECT, Location: `${origin}/sso` }],
      singleLogoutService: [{ Binding: REDIRECT, Location: `${origin}/slo` }],
      // The types of the package lack some of these settings.
    } as Parameters<typeof samlify.IdentityProvider>[0]);
  const plain = createIdp(false);

  /** The service as its metadata describe it. */
  async function readSp() {
    const response = await fetch(self.spMetadataUrl);
    if (response.status !== 200) throw new Error(`the metadata of the service answer ${response.status}`);
    return samlify.ServiceProvider({
      metadata: await response.text(),
      wantLogoutRequestSigned: true,
      wantLogoutResponseSigned: true,
    });
  }

  const messageOf = ({ searchParams, search }: URL) => {
    // What is signed is the text of the query as it was sent, without the signature.
    const octetString = search.slice(1).replace(/&Signature=.*$/, '');
    return { query: Object.fromEntries(searchParams), octetString };
  };

  const self: SamlIdentityProvider = {
    entityId: `${origin}/metadata`,
    metadataUrl: `${origin}/metadata`,
    metadata: plain.getMetadata(),
    user: { name: 'unknown' },
    spMetadataUrl: '',
    encrypts: false,
    encryption: GCM_ENCRYPTION,
    get metadataRequests() {
      return metadataRequests;
    },
    get successfulLogouts() {
      return successfulLogouts;
    },

    async respond(url) {
      const sp = await readSp();
      const idp = self.encrypts ? createIdp(true, self.encryption) : plain;
      const request = await idp.parseLoginRequest(sp, 'redirect', messageOf(url));
      const id = (request.extract.request as { id?: string } | undefined)?.id;
      const customTagReplacement = (template: string) => fillResponse(template, self, sp, String(id));
      const response = (await idp.createLoginResponse(
        sp,
        request as never,
        'post',
        {},
        {
          customTagReplacement,
          // Where the service does not ask for signed assertions, the response is signed around the encrypted one.
          encryptThenSign: true,
        },
      )) as {
        context: string;
        entityEndpoint: string;
      };
      return {
        action: response.entityEndpoint,
        fields: { SAMLResponse: response.context, RelayState: url.searchParams.get('RelayState') ?? '' },
      };
    },

    async answerLogout(url) {
      const sp = await readSp();
      const request = await plain.parseLogoutRequest(sp, 'redirect', messageOf(url));
      const { context, entityEndpoint } = plain.createLogoutResponse(sp, request as never, 'post') as {
        context: string;
        entityEndpoint: string;
      };
      const RelayState = url.searchParams.get('RelayState') ?? '';
      return {
        action: entityEndpoint,
        fields: { SAMLResponse: context, RelayState },
        name: String(request.extract.nameID),
      };
    },

    async beginLogout(name) {
      const { context, entityEndpoint } = plain.createLogoutRequest(await readSp(), 'post', {
        logoutNameID: name,
      }) as { context: string; entityEndpoint: string };
      return { action: entityEndpoint, fields: { SAMLRequest: context, RelayState: 'logout of the provider' } };
    },

    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  async function handle({ url }: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = new URL(url ?? '/', origin);
    const sendPage = (html: string) => response.setHeader('Content-Type', 'text/html; charset=utf-8').end(html);
    if (at.pathname === '/metadata') metadataRequests++;
    if (at.pathname === '/metadata')
      return void response.setHeader('Content-Type', 'application/xml').end(self.metadata);
    if (at.pathname === '/sso')
      return void sendPage(renderForm(await self.respond(at), `Continue as ${self.user.name}`));
    if (at.pathname === '/begin-logout')
      return void sendPage(renderForm(await self.beginLogout(self.user.name), 'Sign out'));
    if (at.pathname === '/slo' && at.searchParams.has('SAMLRequest'))
      return void sendPage(renderForm(await self.answerLogout(at), 'Sign out'));
    if (at.pathname === '/slo') {
      const answer = await plain.parseLogoutResponse(await readSp(), 'redirect', messageOf(at));
      if (answer.extract.response && at.searchParams.get('RelayState') === 'logout of the provider')
        successfulLogouts++;
      return void sendPage('<p>Signed out of all services.</p>');
    }
    response.writeHead(404).end();
  }
  server.on('request', (request, response) => {
    handle(request, response).catch((error) => response.writeHead(500).end(String(error)));
  });
  return self;
}

/** Fills the template of a response for the user of the provider. */
function fillResponse(
  template: string,
  { entityId, user }: SamlIdentityProvider,
  sp: ReturnType<typeof samlify.ServiceProvider>,
  requestId: string,
) {
  const [id, assertionId] = [`_${crypto.randomUUID()}`, `_${crypto.randomUUID()}`];
  const [now, end] = [new Date(), new Date(Date.now() + 5 * 60_000)].map((date) => date.toISOString());
  const acs = String(sp.entityMeta.getAssertionConsumerService('post'));
  const { attributes, groups = [], email } = user;
  const values: Readonly<Record<string, readonly string[]>> = {
    ...(email === undefined ? {} : { email: [email] }),
    ...Object.fromEntries(Object.entries(attributes ?? {}).map(([name, value]) => [name, [value]])),
    ...(groups.length > 0 ? { groups } : {}),
  };
  const context = samlify.SamlLib.replaceTagsByValue(template, {
    ID: id,
    AssertionID: assertionId,
    Destination: acs,
    Audience: sp.entityMeta.getEntityID(),
    SubjectRecipient: acs,
    Issuer: entityId,
    IssueInstant: now,
    StatusCode: 'urn:oasis:names:tc:SAML:2.0:status:Success',
    ConditionsNotBefore: now,
    ConditionsNotOnOrAfter: end,
    SubjectConfirmationDataNotOnOrAfter: end,
    NameIDFormat: NAME_FORMAT,
    NameID: user.name,
    InResponseTo: requestId,
  })
    .replace(
      '{AuthnStatement}',
      `<saml:AuthnStatement AuthnInstant="${now}" SessionIndex="session-of-${user.name}"><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>`,
    )
    .replace('{AttributeStatement}', renderAttributes(values));
  return { id, context };
}

export const renderAttributes = (attributes: Readonly<Record<string, readonly string[]>>): string =>
  Object.keys(attributes).length === 0
    ? ''
    : `<saml:AttributeStatement>${Object.entries(attributes)
        .map(
          ([name, values]) =>
            `<saml:Attribute Name="${name}">${values.map((value) => `<saml:AttributeValue>${value}</saml:AttributeValue>`).join('')}</saml:Attribute>`,
        )
        .join('')}</saml:AttributeStatement>`;

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

const renderForm = ({ action, fields }: PostedForm, button: string): string =>
  `<!doctype html><title>Identity provider</title><form method="post" action="${escapeHtml(action)}">${Object.entries(
    fields,
  )
    .map(([name, value]) => `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`)
    .join('')}<button>${escapeHtml(button)}</button></form>`;
