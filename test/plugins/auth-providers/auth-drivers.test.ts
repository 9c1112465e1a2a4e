import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { fail } from '#kernel';
import type {
  ProviderDriverDeclaration,
  RedirectProviderDriver,
  SignInCallback,
  SignInStart,
} from '../../../plugins/auth-providers/contract.ts';
import {
  type AuthDriverKit,
  describeAuthDriver,
  failedAuthDriverChecks,
  readAuthDriverDeclarations,
  type SuiteUser,
} from '../../support/auth-driver-suite.ts';
import { startOpenIdServer } from '../../support/openid-server.ts';

const USERS: Readonly<Record<SuiteUser, Record<string, unknown>>> = {
  ann: { sub: 'ann', email: 'ann@example.com', email_verified: true, groups: ['editors', 'staff'] },
  bob: { sub: 'bob', email: 'bob@example.com', email_verified: false, groups: ['staff'] },
};

const FAULTS: Readonly<Record<'hang' | 'down' | 'garbage', (response: ServerResponse) => void>> = {
  hang: () => {},
  down: (response) => void response.socket?.destroy(),
  garbage: (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('\u0001<'),
};
const PATHS = ['/.well-known/openid-configuration', '/jwks', '/token', '/userinfo'];

/** A driver with the authorization server of the tests behind it. */
async function openServerKit(
  declaration: ProviderDriverDeclaration,
  settingsOf: (issuer: string) => Record<string, string>,
): Promise<AuthDriverKit> {
  const server = await startOpenIdServer();
  for (const [name, user] of Object.entries(USERS)) server.users.set(name, user);
  return {
    declaration,
    settings: { CLIENT_ID: 'service', CLIENT_SECRET: server.secret, ...settingsOf(server.issuer) },
    secrets: [server.secret],
    async visit(location, user) {
      const url = new URL(location);
      url.searchParams.set('login_hint', user);
      const answer = await fetch(url, { redirect: 'manual' });
      return new URL(answer.headers.get('location') ?? '').searchParams;
    },
    forgeries: (honest) => [
      new URLSearchParams({ ...Object.fromEntries(honest), code: 'another' }),
      new URLSearchParams({ ...Object.fromEntries(honest), error: 'access_denied' }),
    ],
    setFault(fault) {
      server.faults =
        fault === 'none' ? {} : { answer: Object.fromEntries(PATHS.map((path) => [path, FAULTS[fault]])) };
    },
    stop: () => server.stop(),
  };
}

const declarationOf = async (name: string) =>
  (await readAuthDriverDeclarations(['auth-oauth2', 'auth-openid'])).get(name) as ProviderDriverDeclaration;
const openOpenIdKit = async () => openServerKit(await declarationOf('openid'), (issuer) => ({ ISSUER_URL: issuer }));
const openOAuth2Kit = async () =>
  openServerKit(await declarationOf('oauth2'), (issuer) => ({
    AUTHORIZE_URL: `${issuer}/authorize`,
    ACCESS_URL: `${issuer}/token`,
    PROFILE_URL: `${issuer}/userinfo`,
    IDENTIFIER_KEY: 'sub',
  }));

describeAuthDriver('openid', 'redirect', openOpenIdKit);
describeAuthDriver('oauth2', 'redirect', openOAuth2Kit);

type Wrap = (driver: RedirectProviderDriver) => RedirectProviderDriver;

let lastUser = 'ann';

/** Drivers with one defect each, and the checks that have to find it. */
const BROKEN: readonly (readonly [defect: string, finds: string, wrap: Wrap])[] = [
  [
    'makes an identifier of its own for each sign-in',
    'same identifier',
    (driver) => ({
      ...driver,
      finish: async (callback) => ({ ...(await driver.finish(callback)), identifier: String(Math.random()) }),
    }),
  ],
  [
    'takes every address for verified',
    'verified',
    (driver) => ({
      ...driver,
      finish: async (callback) => ({ ...(await driver.finish(callback)), emailVerified: true }),
    }),
  ],
  [
    'gives every user all groups',
    'groups',
    (driver) => ({
      ...driver,
      finish: async (callback) => ({ ...(await driver.finish(callback)), groups: ['editors'] }),
    }),
  ],
  [
    'shows the refresh token in the claims',
    'no token in the profile',
    (driver) => ({
      ...driver,
      async finish(callback) {
        const profile = await driver.finish(callback);
        return { ...profile, claims: { ...profile.claims, refresh: profile.tokens?.refreshToken } };
      },
    }),
  ],
  [
    'remembers the user of the last sign-in',
    'apart',
    (driver) => ({
      ...driver,
      async finish(callback) {
        const profile = await driver.finish(callback);
        lastUser = profile.identifier;
        await new Promise((resolve) => setTimeout(resolve, 50));
        return { ...profile, identifier: lastUser };
      },
    }),
  ],
  [
    'throws errors that are no failures',
    'provider is down',
    (driver) => ({
      ...driver,
      finish: (callback: SignInCallback) =>
        driver.finish(callback).catch((error) => {
          throw new Error(error.message);
        }),
      begin: (start: SignInStart) =>
        driver.begin(start).catch((error) => {
          throw new Error(error.message);
        }),
    }),
  ],
  [
    'does not heed the signal',
    'signal aborts',
    (driver) => ({
      ...driver,
      finish: (callback) => driver.finish({ ...callback, fetch: deafFetch }),
      begin: (start) => driver.begin({ ...start, fetch: deafFetch }),
    }),
  ],
  [
    'repeats the secret in its findings',
    'method check, where it has one, and shows no secret',
    (driver) => ({
      ...driver,
      async *check() {
        yield SECRET_FINDING;
      },
    }),
  ],
  [
    'finds everything in order without a look at the provider',
    'that the provider is down',
    (driver) => ({
      ...driver,
      async *check() {
        yield { ...SECRET_FINDING, text: 'fine' };
      },
    }),
  ],
  [
    'begins without the state',
    'has the state',
    (driver) => ({
      ...driver,
      async begin(start) {
        const started = await driver.begin(start);
        started.location.searchParams.set('state', 'fixed');
        return started;
      },
    }),
  ],
  [
    'takes a callback of which the exchange failed for the last user',
    'refuses with INVALID_CREDENTIALS a callback',
    (driver) => ({
      ...driver,
      finish: (callback) =>
        driver.finish(callback).catch((error) => {
          if (error.code !== 'INVALID_CREDENTIALS') throw error;
          return { identifier: lastUser };
        }),
    }),
  ],
];

/** A finding with the secret of the client in it. */
const SECRET_FINDING = { check: 'client', status: 'ok', text: 'the secret of the client is right' } as const;

const deafFetch = (url: string | URL, init?: object) =>
  fetch(url, { ...(init as RequestInit), redirect: 'manual' }).catch(() => {
    throw fail('SERVICE_UNAVAILABLE', 'the provider cannot be reached');
  });

describe('the checks of auth drivers', function () {
  this.timeout(180_000);
  for (const [defect, finds, wrap] of BROKEN) {
    it(`find a driver that ${defect}`, async () => {
      const kit = await openOpenIdKit();
      const { declaration } = kit;
      if (declaration.kind !== 'redirect') throw new Error('the driver is none of redirects');
      const open: typeof declaration.open = async (provider) => wrap(await declaration.open(provider));
      try {
        const failed = await failedAuthDriverChecks({ ...kit, declaration: { ...declaration, open } });
        expect(
          failed.some((title) => title.includes(finds)),
          `found: ${failed.join('; ')}`,
        ).to.equal(true);
      } finally {
        await kit.stop();
      }
    });
  }
});
