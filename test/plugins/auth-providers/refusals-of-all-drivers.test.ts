import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import { createCookieBrowser } from '../../support/cookie-browser.ts';
import { startDirectory, type TestDirectory } from '../../support/ldap-server.ts';
import type { OpenIdServerFaults } from '../../support/openid-server.ts';
import { signElement } from '../../support/saml-forge.ts';
import { type SamlIdentityProvider, startSamlIdentityProvider } from '../../support/saml-identity-provider.ts';
import { FOREIGN_KEY, IDP_CERTIFICATE } from '../../support/saml-keys.ts';
import { TEST_SECRET } from '../../support/service.ts';
import { ldapSettings, refusalOf } from '../auth-ldap/ldap-fixture.ts';
import { createForgery, type Forge, signedAssertion, signedResponse } from '../auth-saml/forgery.ts';
import { postForm, samlSettings, signInAt, withXml, xmlOf } from '../auth-saml/saml-fixture.ts';
import { ID_TOKEN_FAULTS } from './id-token-faults.ts';
import {
  oauth2Settings,
  openIdSettings,
  type ProviderFixture,
  type SignInOptions,
  type SignInResult,
  startProviderFixture,
} from './provider-fixture.ts';

const DRIVERS = ['openid', 'oauth2', 'saml', 'ldap'] as const;
type Driver = (typeof DRIVERS)[number];

/** What the table prints where a driver has no such thing. */
const NOTHING = 'does not apply';

/** Runs one case at one driver, and answers status and code. */
type Case = () => Promise<string>;

const HMAC = 'http://www.w3.org/2000/09/xmldsig#hmac-sha1';

describe('what every sign-in driver refuses', function () {
  this.timeout(240_000);
  let fixture: ProviderFixture;
  let idp: SamlIdentityProvider;
  let directory: TestDirectory;
  const table = new Map<string, Partial<Record<Driver, string>>>();
  let count = 0;

  before(async () => {
    idp = await startSamlIdentityProvider();
    directory = await startDirectory();
    await directory.addPerson('Ann');
    await directory.addPerson('Thief', { mail: 'admin@example.com' });
    await directory.addPerson('Expired', { accountExpires: '132223104000000000' });
    fixture = await startProviderFixture({
      providers: (server) => ({
        ...openIdSettings('strict', server, { ALLOW_PUBLIC_REGISTRATION: 'true', REQUIRE_VERIFIED_EMAIL: 'true' }),
        ...oauth2Settings('strictplain', server, { ALLOW_PUBLIC_REGISTRATION: 'true', REQUIRE_VERIFIED_EMAIL: 'true' }),
        ...oauth2Settings('issued', server, { ISSUER_URL: server.issuer }),
        ...samlSettings(idp),
        ...Object.fromEntries(
          Object.entries(samlSettings(idp, { REQUIRE_VERIFIED_EMAIL: 'true' })).map(([key, value]) => [
            key.replace('AUTH_CORP', 'AUTH_STRICTCORP'),
            value,
          ]),
        ),
        ...ldapSettings(directory, {}, 'STAFF'),
        ...ldapSettings(directory, { AUTH_STRICTSTAFF_REQUIRE_VERIFIED_EMAIL: 'true' }, 'STRICTSTAFF'),
      }),
    });
    idp.spMetadataUrl = `${fixture.service.url}/auth/login/corp/metadata`;
  });
  after(async () => {
    await fixture?.stop();
    await directory?.stop();
    await idp?.stop();
    const row = (what: string, cells: readonly string[]) =>
      `      ${what.padEnd(42)}${cells.map((cell) => cell.padEnd(25)).join('')}`.trimEnd();
    console.log(
      [
        row('', DRIVERS),
        ...[...table].map(([what, cells]) =>
          row(
            what,
            DRIVERS.map((driver) => cells[driver] ?? ''),
          ),
        ),
      ].join('\n'),
    );
  });

  const nextUser = () => ({ sub: `user-${++count}`, email: `user-${count}@example.com`, email_verified: true });
  const refusal = ({ status, code, body }: Pick<SignInResult, 'status' | 'code' | 'body'>): string => {
    expect(JSON.stringify(body ?? null)).not.to.contain('access_token');
    return `${status} ${code}`;
  };

  /** A sign-in at the authorization server with a fault. */
  const atServer =
    (provider: string, faults: OpenIdServerFaults, options?: SignInOptions, user: object = {}): Case =>
    async () => {
      fixture.server.user = { ...nextUser(), ...user };
      fixture.server.faults = faults;
      try {
        return refusal(await fixture.signIn(provider, options));
      } finally {
        fixture.server.faults = {};
      }
    };
  const withIdToken = (what: string): Case => {
    const [, faults] = ID_TOKEN_FAULTS.find(([name]) => name === what) as (typeof ID_TOKEN_FAULTS)[number];
    return atServer('oidc', faults);
  };
  const withCallback = (provider: string, change: (url: URL) => void): Case =>
    atServer(provider, {}, { callback: change });

  /** A SAML response that is forged out of an honest one. */
  const atIdp =
    (forge: Forge | undefined, user: { name?: string; email?: string } = {}, provider = 'corp'): Case =>
    async () => {
      const name = user.name ?? `saml-${++count}`;
      idp.spMetadataUrl = `${fixture.service.url}/auth/login/${provider}/metadata`;
      const url = fixture.service.url;
      const browser = createCookieBrowser();
      idp.user = { ...user, name };
      const begin = await browser.send(`${url}/auth/login/${provider}`);
      const request = new URL(begin.headers.get('location') as string);
      const form = await idp.respond(request);
      const forged = forge
        ? withXml(form, forge(createForgery({ idp, name }, form.action, xmlOf(form), request)))
        : form;
      const { refusal: text, body } = await postForm(browser, forged);
      expect(JSON.stringify(body ?? null)).not.to.contain('access_token');
      return String(text);
    };

  const atDirectory =
    (credentials: object, provider = 'staff'): Case =>
    async () => {
      const body = { password: 'a password of the directory', ...credentials };
      return refusalOf(await fixture.service.request('POST', `/auth/login/${provider}`, { body }));
    };

  /** A callback that was used before, with the cookie of its sign-in. */
  const replayed =
    (provider: string): Case =>
    async () => {
      fixture.server.user = nextUser();
      const browser = createCookieBrowser();
      let cookies: Map<string, string> | undefined;
      const first = await fixture.signIn(provider, {
        browser,
        callback: () => (cookies = new Map(browser.cookies.get(fixture.service.url))),
      });
      expect(first.status).to.equal(200);
      browser.cookies.set(fixture.service.url, cookies ?? new Map());
      const answer = await browser.send(String(first.callback));
      const { errors } = (await answer.json()) as { errors?: { extensions: { code: string } }[] };
      return `${answer.status} ${errors?.[0]?.extensions.code}`;
    };
  const replayedResponse: Case = async () => {
    const browser = createCookieBrowser();
    idp.spMetadataUrl = `${fixture.service.url}/auth/login/corp/metadata`;
    let cookies: Map<string, string> | undefined;
    const change = (form: Parameters<typeof postForm>[1]) => {
      cookies = new Map(browser.cookies.get(fixture.service.url));
      return form;
    };
    const first = await signInAt(fixture.service.url, idp, { name: `saml-${++count}` }, { browser, change });
    expect(first.status).to.equal(200);
    browser.cookies.set(fixture.service.url, cookies ?? new Map());
    return String((await postForm(browser, first.form)).refusal);
  };

  /** A sign-in that began more than ten minutes ago. */
  const late = (provider: string): Case => {
    const browser = createCookieBrowser();
    const callback = () => {
      const cookies = browser.cookies.get(fixture.service.url);
      const name = `service_sign_in_${provider}`;
      const claims = jwt.decode(cookies?.get(name) ?? '') as Record<string, unknown>;
      cookies?.set(name, jwt.sign({ ...claims, exp: Math.floor(Date.now() / 1000) - 1 }, TEST_SECRET));
    };
    return atServer(provider, {}, { browser, callback });
  };
  const withRedirect =
    (provider: string): Case =>
    async () =>
      refusalOf(await fixture.service.request('GET', `/auth/login/${provider}?redirect=https://evil.example.com/`));
  const wrongRelayState: Case = async () => {
    idp.spMetadataUrl = `${fixture.service.url}/auth/login/corp/metadata`;
    const { refusal: text } = await signInAt(
      fixture.service.url,
      idp,
      { name: 'x' },
      {
        change: (form) => ({ ...form, fields: { ...form.fields, RelayState: 'x'.repeat(43) } }),
      },
    );
    return String(text);
  };

  const INVALID = '401 INVALID_CREDENTIALS';
  const TOKEN = '403 INVALID_TOKEN';
  const QUERY = '400 INVALID_QUERY';
  const TAKEN = '401 INVALID_PROVIDER';
  const rows: Readonly<Record<string, Readonly<Record<Driver, readonly [Case, refusal: string] | undefined>>>> = {
    tampered: {
      openid: [withIdToken('tampered'), INVALID],
      oauth2: undefined,
      saml: [atIdp((f) => f.xml.replace(/>saml-\d+</, '>admin<')), INVALID],
      ldap: undefined,
    },
    expired: {
      openid: [withIdToken('expired'), INVALID],
      oauth2: [late('plain'), '401 TOKEN_EXPIRED'],
      saml: [atIdp(signedResponse({ notBefore: -7200, notOnOrAfter: -3600 })), INVALID],
      ldap: [atDirectory({ identifier: 'Expired' }), '401 USER_SUSPENDED'],
    },
    replayed: {
      openid: [replayed('oidc'), TOKEN],
      oauth2: [replayed('plain'), TOKEN],
      saml: [replayedResponse, TOKEN],
      ldap: undefined,
    },
    'foreign-signed': {
      openid: [withIdToken('foreign-signed'), INVALID],
      oauth2: undefined,
      saml: [atIdp((f) => signElement(f.response(), 'Response', { key: FOREIGN_KEY })), INVALID],
      ldap: undefined,
    },
    'wrong audience': {
      openid: [withIdToken('wrong audience'), INVALID],
      oauth2: undefined,
      saml: [atIdp(signedResponse({ audience: 'https://other.example.com' })), INVALID],
      ldap: undefined,
    },
    'wrong issuer': {
      openid: [withIdToken('wrong issuer'), INVALID],
      oauth2: [withCallback('issued', (url) => url.searchParams.set('iss', 'https://evil.example.com')), INVALID],
      saml: [atIdp(signedResponse({ issuer: 'https://evil.example.com' })), INVALID],
      ldap: undefined,
    },
    'wrong nonce (SAML: of another request)': {
      openid: [withIdToken('wrong nonce'), INVALID],
      oauth2: undefined,
      saml: [atIdp(signedResponse({ inResponseTo: '_other' })), INVALID],
      ldap: undefined,
    },
    'wrong state': {
      openid: [withCallback('oidc', (url) => url.searchParams.set('state', 'another')), TOKEN],
      oauth2: [withCallback('plain', (url) => url.searchParams.set('state', 'another')), TOKEN],
      saml: [wrongRelayState, TOKEN],
      ldap: undefined,
    },
    'wrapped signature': {
      openid: undefined,
      oauth2: undefined,
      saml: [
        atIdp((f) => f.wrap(f.assertion({ id: '_evil', name: 'admin' }) + signElement(f.assertion(), 'Assertion'))),
        INVALID,
      ],
      ldap: undefined,
    },
    'comment-split name': {
      openid: undefined,
      oauth2: undefined,
      saml: [
        atIdp((f) =>
          signElement(f.response({ name: 'admin.evil.example' }), 'Response').replace(
            '>admin.evil',
            '>admin<!---->.evil',
          ),
        ),
        INVALID,
      ],
      ldap: [atDirectory({ identifier: 'Ann<!---->,ou=people' }), INVALID],
    },
    'algorithm confusion': {
      openid: [withIdToken('algorithm confusion: HS256 by the public key'), INVALID],
      oauth2: undefined,
      saml: [atIdp(signedAssertion({ signature: HMAC, secret: IDP_CERTIFICATE }, { name: 'admin' })), INVALID],
      ldap: undefined,
    },
    'unverified e-mail': {
      openid: [atServer('strict', {}, undefined, { email_verified: false }), INVALID],
      oauth2: [atServer('strictplain', {}, undefined, { email_verified: false }), INVALID],
      saml: [atIdp(undefined, { email: 'unverified@example.com' }, 'strictcorp'), INVALID],
      ldap: [atDirectory({ identifier: 'Ann' }, 'strictstaff'), INVALID],
    },
    'e-mail taken over from another provider': {
      openid: [atServer('oidc', {}, undefined, { email: 'admin@example.com' }), TAKEN],
      oauth2: [atServer('plain', {}, undefined, { email: 'admin@example.com' }), TAKEN],
      saml: [atIdp(undefined, { name: 'thief', email: 'admin@example.com' }), TAKEN],
      ldap: [atDirectory({ identifier: 'Thief' }), TAKEN],
    },
    'open redirect': {
      openid: [withRedirect('oidc'), QUERY],
      oauth2: [withRedirect('plain'), QUERY],
      saml: [withRedirect('corp'), QUERY],
      ldap: undefined,
    },
    'LDAP filter characters': {
      openid: undefined,
      oauth2: undefined,
      saml: undefined,
      ldap: [atDirectory({ identifier: '*)(objectClass=*' }), INVALID],
    },
    'empty password bind': {
      openid: undefined,
      oauth2: undefined,
      saml: undefined,
      ldap: [atDirectory({ identifier: 'Ann', password: '' }), INVALID],
    },
  };

  for (const [what, cells] of Object.entries(rows)) {
    const applying = DRIVERS.filter((driver) => cells[driver]);
    it(`${what}, at ${applying.join(', ')}`, async () => {
      const found: Partial<Record<Driver, string>> = {};
      table.set(what, found);
      for (const driver of DRIVERS) found[driver] = (await cells[driver]?.[0]()) ?? NOTHING;
      const expected = DRIVERS.map((driver) => cells[driver]?.[1] ?? NOTHING);
      expect(DRIVERS.map((driver) => found[driver])).to.deep.equal(expected);
    });
  }

  it('nothing of a sign-in that is in order, at any of them', async () => {
    fixture.server.user = nextUser();
    const statuses = [(await fixture.signIn('oidc')).status];
    fixture.server.user = nextUser();
    statuses.push((await fixture.signIn('plain')).status);
    idp.spMetadataUrl = `${fixture.service.url}/auth/login/corp/metadata`;
    statuses.push((await signInAt(fixture.service.url, idp, { name: 'fine' })).status);
    const body = { identifier: 'Ann', password: 'a password of the directory' };
    statuses.push((await fixture.service.request('POST', '/auth/login/staff', { body })).status);
    expect(statuses).to.deep.equal([200, 200, 200, 200]);
  });
});
