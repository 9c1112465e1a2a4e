import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import { createCookieBrowser } from '../../support/cookie-browser.ts';
import type { OpenIdServerFaults } from '../../support/openid-server.ts';
import { TEST_SECRET } from '../../support/service.ts';
import { ID_TOKEN_FAULTS } from './id-token-faults.ts';
import { openIdSettings, type ProviderFixture, type SignInOptions, startProviderFixture } from './provider-fixture.ts';

interface RefusedSignIn {
  readonly what: string;
  readonly provider: string;
  readonly code: string;
  readonly user?: Record<string, unknown>;
  readonly faults?: OpenIdServerFaults;
  readonly options?: SignInOptions;
}

const INVALID = 'INVALID_CREDENTIALS';

const setState = (value: string) => (url: URL) => url.searchParams.set('state', value);

describe('sign-ins that a provider cannot prove', () => {
  let fixture: ProviderFixture;
  const table: string[] = [];
  before(async function () {
    this.timeout(120_000);
    fixture = await startProviderFixture({
      env: { LOG_LEVEL: 'warn' },
      providers(server) {
        const open = { ALLOW_PUBLIC_REGISTRATION: 'true' };
        const strict = { ...open, REQUIRE_VERIFIED_EMAIL: 'true' };
        return {
          ...openIdSettings('strict', server, strict),
          ...openIdSettings('mail', server, { ...strict, EMAIL_KEY: 'mail' }),
          ...openIdSettings('address', server, { ...open, IDENTIFIER_KEY: 'email' }),
          ...openIdSettings('closed', server),
        };
      },
    });
  });
  after(async () => {
    await fixture?.stop();
    console.log(table.map((line) => `      ${line}`).join('\n'));
  });

  let count = 0;
  const nextUser = () => ({ sub: `victim-${++count}`, email: `victim-${count}@example.com`, email_verified: true });
  const numberOfUsers = async () =>
    (await fixture.service.database.query<{ count: number }>('select count(*)::int as count from platform_users'))[0]
      ?.count;

  const refusedSignIns: readonly RefusedSignIn[] = [
    ...ID_TOKEN_FAULTS.map(([what, faults]) => ({
      what: `ID token, ${what}`,
      provider: 'oidc',
      code: INVALID,
      faults,
    })),
    ...['oidc', 'plain'].flatMap((provider): readonly RefusedSignIn[] => [
      { what: 'wrong state', provider, code: 'INVALID_TOKEN', options: { callback: setState('another') } },
      {
        what: 'no state',
        provider,
        code: 'INVALID_TOKEN',
        options: { callback: (url) => url.searchParams.delete('state') },
      },
      {
        what: 'a parameter twice',
        provider,
        code: INVALID,
        options: { callback: (url) => url.searchParams.append('code', 'another') },
      },
      {
        what: 'a code of another sign-in',
        provider,
        code: INVALID,
        options: { callback: (url) => url.searchParams.set('code', 'x') },
      },
      {
        what: 'refused by the provider',
        provider,
        code: INVALID,
        faults: { callback: (all) => all.set('error', 'access_denied') },
      },
      {
        what: 'open redirect: another origin',
        provider,
        code: 'INVALID_QUERY',
        options: { query: '?redirect=https://evil.example.com/' },
      },
      {
        what: 'open redirect: no scheme',
        provider,
        code: 'INVALID_QUERY',
        options: { query: '?redirect=//evil.example.com/' },
      },
      {
        what: 'open redirect: backslashes',
        provider,
        code: 'INVALID_QUERY',
        options: { query: `?redirect=${encodeURIComponent('/\\evil.example.com')}` },
      },
      {
        what: 'open redirect: a script',
        provider,
        code: 'INVALID_QUERY',
        options: { query: '?redirect=javascript:alert(1)' },
      },
      {
        what: 'open redirect: a name before the host',
        provider,
        code: 'INVALID_QUERY',
        options: { query: '?redirect=http://127.0.0.1@evil.example.com/' },
      },
      { what: 'open redirect: twice', provider, code: 'INVALID_QUERY', options: { query: '?redirect=/a&redirect=/b' } },
      { what: 'tokens in an address', provider, code: 'INVALID_QUERY', options: { query: '?redirect=/a&mode=json' } },
      { what: 'no identifier', provider, code: INVALID, user: { sub: undefined } },
    ]),
    {
      what: 'wrong issuer in the callback',
      provider: 'oidc',
      code: INVALID,
      options: { callback: (url) => url.searchParams.set('iss', 'https://evil.example.com') },
    },
    { what: 'unverified e-mail address', provider: 'strict', code: INVALID, user: { email_verified: false } },
    {
      what: 'e-mail address of which nothing is said',
      provider: 'strict',
      code: INVALID,
      user: { email_verified: undefined },
    },
    {
      what: 'another e-mail address than the verified one',
      provider: 'mail',
      code: INVALID,
      user: { mail: 'admin@example.com' },
    },
    {
      what: 'unverified e-mail address as identifier',
      provider: 'address',
      code: INVALID,
      user: { email_verified: false },
    },
    { what: 'unknown user without registration', provider: 'closed', code: INVALID },
    {
      what: 'user info of another user',
      provider: 'oidc',
      code: INVALID,
      faults: {
        answer: {
          '/userinfo': (response) =>
            response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ sub: 'admin' })),
        },
      },
    },
  ];

  for (const { what, provider, code, user, faults = {}, options } of refusedSignIns) {
    it(`${provider}: refuses ${what} with ${code}`, async () => {
      fixture.server.user = { ...nextUser(), ...user };
      fixture.server.faults = faults;
      const before = await numberOfUsers();
      try {
        const result = await fixture.signIn(provider, options);
        table.push(`${provider.padEnd(8)}${what.padEnd(58)}${result.status} ${result.code}`);
        expect([result.code, result.body?.data]).to.deep.equal([code, undefined]);
        expect(await numberOfUsers(), 'users').to.equal(before);
      } finally {
        fixture.server.faults = {};
      }
    });
  }

  for (const provider of ['oidc', 'plain']) {
    it(`${provider}: refuses a callback that was used before with INVALID_TOKEN, also with the cookie`, async () => {
      fixture.server.user = nextUser();
      let cookie = '';
      const browser = createCookieBrowser();
      const name = `service_sign_in_${provider}`;
      const origin = fixture.service.url;
      const first = await fixture.signIn(provider, {
        browser,
        callback: () => (cookie = browser.cookies.get(origin)?.get(name) ?? ''),
      });
      expect(first.status).to.equal(200);
      expect(cookie).to.be.a('string').and.not.equal('');
      const address = String(first.callback);
      const codeOf = async (answer: Response) =>
        ((await answer.json()) as { errors?: { extensions: { code: string } }[] }).errors?.[0]?.extensions.code;
      const without = await codeOf(await fetch(address));
      const replayed = await codeOf(await fetch(address, { headers: { cookie: `${name}=${cookie}` } }));
      table.push(
        `${provider.padEnd(8)}${'replayed, without and with the cookie'.padEnd(58)}403 ${without}, ${replayed}`,
      );
      expect([without, replayed]).to.deep.equal(['INVALID_TOKEN', 'INVALID_TOKEN']);
    });

    it(`${provider}: refuses a sign-in that began more than ten minutes ago with TOKEN_EXPIRED`, async () => {
      fixture.server.user = nextUser();
      const browser = createCookieBrowser();
      const own = browser.cookies;
      const result = await fixture.signIn(provider, {
        browser,
        callback: () => {
          const cookies = own.get(fixture.service.url);
          const claims = jwt.decode(cookies?.get(`service_sign_in_${provider}`) ?? '') as Record<string, unknown>;
          const old = jwt.sign({ ...claims, exp: Math.floor(Date.now() / 1000) - 1 }, TEST_SECRET);
          cookies?.set(`service_sign_in_${provider}`, old);
        },
      });
      table.push(
        `${provider.padEnd(8)}${'a sign-in that began too long ago'.padEnd(58)}${result.status} ${result.code}`,
      );
      expect(result.code).to.equal('TOKEN_EXPIRED');
    });

    it(`${provider}: refuses the code of another browser with INVALID_CREDENTIALS, by PKCE`, async () => {
      fixture.server.user = nextUser();
      const isCallback = (at: URL) => at.pathname.endsWith('/callback');
      const begun = await createCookieBrowser().follow(`${fixture.service.url}/auth/login/${provider}`, isCallback);
      const code = begun.url.searchParams.get('code') as string;
      const result = await fixture.signIn(provider, { callback: (url) => url.searchParams.set('code', code) });
      table.push(`${provider.padEnd(8)}${'the code of another browser'.padEnd(58)}${result.status} ${result.code}`);
      expect(result.code).to.equal(INVALID);
    });

    it(`${provider}: refuses the cookie of another provider, and one that this service did not sign, with INVALID_TOKEN`, async () => {
      fixture.server.user = nextUser();
      const other = provider === 'oidc' ? 'plain' : 'oidc';
      const origin = fixture.service.url;
      const own = `service_sign_in_${provider}`;
      const browser = createCookieBrowser();
      await browser.follow(`${origin}/auth/login/${other}`, (at) => at.pathname.endsWith('/callback'));
      const foreign = browser.cookies.get(origin)?.get(`service_sign_in_${other}`) as string;
      const forged = jwt.sign(jwt.decode(foreign) as object, 'another secret', { algorithm: 'HS256' });
      const codes: (string | undefined)[] = [];
      for (const cookie of [foreign, forged]) {
        const result = await fixture.signIn(provider, {
          browser,
          callback: (url) => {
            browser.cookies.get(origin)?.set(own, cookie);
            url.searchParams.set('state', String((jwt.decode(cookie) as { state: string }).state));
          },
        });
        codes.push(result.code);
      }
      table.push(
        `${provider.padEnd(8)}${'cookie of another provider, forged cookie'.padEnd(58)}403 ${codes.join(', ')}`,
      );
      expect(codes).to.deep.equal(['INVALID_TOKEN', 'INVALID_TOKEN']);
    });

    it(`${provider}: refuses the e-mail address of a user of another provider with INVALID_PROVIDER`, async () => {
      const victim = nextUser();
      fixture.server.user = victim;
      await fixture.signIn('other');
      fixture.server.user = { ...nextUser(), email: victim.email.toUpperCase() };
      const byEmail = await fixture.signIn(provider);
      fixture.server.user = { ...nextUser(), email: fixture.service.admin.email };
      const admin = await fixture.signIn(provider);
      const codes = [byEmail.code, admin.code];
      table.push(`${provider.padEnd(8)}${'e-mail taken over from another provider'.padEnd(58)}401 ${codes.join(', ')}`);
      expect(codes).to.deep.equal(Array(2).fill('INVALID_PROVIDER'));
    });

    it(`${provider}: makes another user of an identifier that a user of another provider has`, async () => {
      const victim = nextUser();
      fixture.server.user = victim;
      await fixture.signIn('other');
      fixture.server.user = { ...nextUser(), sub: victim.sub };
      expect((await fixture.signIn(provider)).status).to.equal(200);
      const sql = 'select provider from platform_users where external_identifier = $1 order by provider';
      expect(await fixture.service.database.query(sql, [victim.sub])).to.have.deep.members([
        { provider: 'other' },
        { provider },
      ]);
    });
  }

  it('the log says why a sign-in was refused, and the answer does not', async () => {
    const { log } = fixture.service;
    const reasons = log.filter(({ provider }) => provider === 'strict').map(({ msg }) => String(msg));
    expect(reasons.join()).to.contain('the provider has not verified the e-mail address of the user');
    fixture.server.user = nextUser();
    const { body } = await fixture.signIn('closed');
    expect(body.errors[0].message).to.equal('Invalid user credentials.');
  });
});
