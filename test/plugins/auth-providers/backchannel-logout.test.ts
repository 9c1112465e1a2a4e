import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import { createCookieBrowser } from '../../support/cookie-browser.ts';
import { findFreePort } from '../../support/free-port.ts';
import { REAL_PROVIDER_CLIENT, type RealOpenIdProvider, startOidcProvider } from '../../support/oidc-provider.ts';
import { type InProcessService, type SpawnedService, spawnService, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { openIdSettings, type ProviderFixture, type SignInResult, startProviderFixture } from './provider-fixture.ts';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
const OTHER_KEY = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;

/** How a logout token differs from an honest one. */
interface TokenChange {
  readonly claims?: (claims: Record<string, unknown>) => void;
  readonly key?: jwt.Secret | typeof OTHER_KEY;
  readonly options?: jwt.SignOptions;
}

describe('back-channel logout of OpenID Connect', function () {
  this.timeout(180_000);
  let fixture: ProviderFixture;
  let other: SpawnedService;
  before(async () => {
    fixture = await startProviderFixture();
    const { service, server } = fixture;
    other = await spawnService({
      database: service.database,
      env: { PUBLIC_URL: service.url, ...openIdSettings('oidc', server, { ALLOW_PUBLIC_REGISTRATION: 'true' }) },
    });
  });
  after(async () => {
    await other?.stop();
    await fixture?.stop();
  });

  let count = 0;
  /** Signs a user in, in a session of the provider. */
  async function signIn(sub: string, sid: string | undefined, provider = 'oidc'): Promise<SignInResult> {
    fixture.server.user = { sub, email: `${sub}-${provider}@example.com`, ...(sid === undefined ? {} : { sid }) };
    const result = await fixture.signIn(provider);
    expect(result.status, JSON.stringify(result.body)).to.equal(200);
    return result;
  }
  const nextSub = () => `signed-out-${++count}`;

  function tokenOf(names: { sub?: string; sid?: string }, { claims: change, key, options }: TokenChange = {}): string {
    const { server } = fixture;
    const now = Math.floor(Date.now() / 1000);
    const claims: Record<string, unknown> = {
      iss: server.issuer,
      aud: 'service',
      iat: now,
      exp: now + 120,
      jti: randomUUID(),
      events: { [EVENT]: {} },
      ...names,
    };
    change?.(claims);
    const header = { alg: 'RS256', typ: 'logout+jwt' };
    return jwt.sign(claims, key ?? server.privateKey, { algorithm: 'RS256', keyid: 'one', header, ...options });
  }

  async function post(token: string, provider = 'oidc', url = fixture.service.url): Promise<string> {
    const answer = await fetch(`${url}/auth/login/${provider}/backchannel-logout`, {
      method: 'POST',
      body: new URLSearchParams({ logout_token: token }),
    });
    const text = await answer.text();
    return text === '' ? String(answer.status) : `${answer.status} ${JSON.parse(text).errors[0].extensions.code}`;
  }

  const isOpen = async ({ body }: SignInResult, service: Pick<InProcessService, 'request'> = fixture.service) => {
    const { refresh_token } = body.data;
    const reply = await service.request('POST', '/auth/refresh', { body: { refresh_token } });
    if (reply.status === 200) Object.assign(body.data, reply.body.data);
    return reply.status === 200;
  };

  it('ends the sessions that came from a session of the provider, in every process, and no others', async () => {
    const sub = nextSub();
    const [first, second] = [await signIn(sub, 'one'), await signIn(sub, 'two')];
    expect(await post(tokenOf({ sub, sid: 'one' }), 'oidc', other.url)).to.equal('204');
    expect([await isOpen(first), await isOpen(first, other), await isOpen(second, other)]).to.deep.equal([
      false,
      false,
      true,
    ]);
    const sql =
      "select user_agent from platform_activity where action = 'logout' and item = (select id::text from platform_users where external_identifier = $1 and provider = 'oidc')";
    expect(await fixture.service.database.query(sql, [sub])).to.have.lengthOf(1);
  });

  it('ends all sessions of the user where no session is named', async () => {
    const sub = nextSub();
    const all = [await signIn(sub, 'one'), await signIn(sub, 'two'), await signIn(sub, undefined)];
    const neighbour = await signIn(nextSub(), 'one');
    expect(await post(tokenOf({ sub }))).to.equal('204');
    for (const one of all) expect(await isOpen(one)).to.equal(false);
    expect(await isOpen(neighbour)).to.equal(true);
  });

  it('ends by the session alone, and of a provider that named none at the sign-in, by its user', async () => {
    const [first, second] = [await signIn(nextSub(), 'alone'), nextSub()];
    const nameless = await signIn(second, undefined);
    expect(await post(tokenOf({ sid: 'alone' }))).to.equal('204');
    expect(await post(tokenOf({ sub: second, sid: 'unknown' }))).to.equal('204');
    expect([await isOpen(first), await isOpen(nameless)]).to.deep.equal([false, false]);
  });

  it('ends no session of another provider, and answers 204 where there is none', async () => {
    const sub = nextSub();
    const session = await signIn(sub, 'one', 'other');
    expect(await post(tokenOf({ sub, sid: 'one' }))).to.equal('204');
    expect(await isOpen(session)).to.equal(true);
  });

  it('takes a token once, of ten simultaneous uses in two processes', async () => {
    const token = tokenOf({ sub: nextSub() });
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_none, at) => post(token, 'oidc', at % 2 === 0 ? fixture.service.url : other.url)),
    );
    expect(answers.filter((one) => one === '204')).to.have.lengthOf(1);
    expect(answers.filter((one) => one === '400 INVALID_PAYLOAD')).to.have.lengthOf(9);
  });

  const REFUSED: Readonly<Record<string, TokenChange>> = {
    'a foreign signature': { key: OTHER_KEY },
    'an unknown key': { options: { keyid: 'unknown' } },
    'an HMAC by the secret of the client': {
      key: 'the secret of the client',
      options: { algorithm: 'HS256', header: { alg: 'HS256' } },
    },
    'no signature': { key: '', options: { algorithm: 'none', header: { alg: 'none' } } },
    'a wrong issuer': { claims: (claims) => Object.assign(claims, { iss: 'https://evil.example.com' }) },
    'a wrong audience': { claims: (claims) => Object.assign(claims, { aud: 'another' }) },
    'an end in the past': { claims: (claims) => Object.assign(claims, { exp: 1000 }) },
    'an issue an hour ago': {
      claims: (claims) => Object.assign(claims, { iat: Math.floor(Date.now() / 1000) - 3600 }),
    },
    'no time of issue': { claims: (claims) => delete claims.iat, options: { noTimestamp: true } },
    'no event': { claims: (claims) => delete claims.events },
    'another event': { claims: (claims) => Object.assign(claims, { events: { 'urn:other': {} } }) },
    'an event that is no object': { claims: (claims) => Object.assign(claims, { events: { [EVENT]: true } }) },
    'a nonce, as an ID token': { claims: (claims) => Object.assign(claims, { nonce: 'x' }) },
    'neither user nor session': { claims: (claims) => delete claims.sub },
    'no id': { claims: (claims) => delete claims.jti },
    'another type': { options: { header: { alg: 'RS256', typ: 'at+jwt' } } },
  };
  for (const [what, change] of Object.entries(REFUSED)) {
    it(`refuses a token with ${what} with INVALID_PAYLOAD`, async () => {
      const sub = nextSub();
      const session = await signIn(sub, 'one');
      expect(await post(tokenOf({ sub }, change))).to.equal('400 INVALID_PAYLOAD');
      expect(await isOpen(session)).to.equal(true);
    });
  }

  it('refuses what is no token, and paths of providers that have no such logout', async () => {
    expect(await post('')).to.equal('400 INVALID_PAYLOAD');
    expect(await post('a.b.c')).to.equal('400 INVALID_PAYLOAD');
    expect(await post('x'.repeat(20_000))).to.equal('413 CONTENT_TOO_LARGE');
    expect(await post(tokenOf({ sub: 'x' }), 'plain')).to.equal('404 ROUTE_NOT_FOUND');
    expect(await post(tokenOf({ sub: 'x' }), 'nothing')).to.equal('404 ROUTE_NOT_FOUND');
  });

  it('fetches the keys once for many tokens with unknown keys', async () => {
    const requests = () => fixture.server.requests.filter((one) => one === 'GET /jwks').length;
    await post(tokenOf({ sub: 'x' }));
    const before = requests();
    for (let time = 0; time < 10; time++) await post(tokenOf({ sub: 'x' }, { options: { keyid: `unknown ${time}` } }));
    expect(requests() - before).to.be.at.most(1);
  });
});

describe('sign-out at oidc-provider', function () {
  this.timeout(180_000);
  let provider: RealOpenIdProvider;
  let service: InProcessService;
  before(async () => {
    const port = await findFreePort();
    const url = `http://127.0.0.1:${port}`;
    provider = await startOidcProvider(url, 'real');
    provider.users.set('ann', { email: 'ann@example.com', email_verified: true });
    service = await startService({
      env: {
        PORT: String(port),
        PUBLIC_URL: url,
        AUTH_REAL_DRIVER: 'openid',
        AUTH_REAL_ISSUER_URL: provider.issuer,
        AUTH_REAL_CLIENT_ID: REAL_PROVIDER_CLIENT.id,
        AUTH_REAL_CLIENT_SECRET: REAL_PROVIDER_CLIENT.secret,
        AUTH_REAL_ALLOW_PUBLIC_REGISTRATION: 'true',
      },
    });
  });
  after(async () => {
    await service?.stop();
    await provider?.stop();
  });

  /** Signs in at the form of the provider, and answers the tokens. */
  async function signIn(browser = createCookieBrowser()) {
    const isCallback = (at: URL) => at.origin === service.url && at.pathname.endsWith('/callback');
    const form = await browser.follow(`${service.url}/auth/login/real`);
    const posted = await browser.send(form.url.href, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'login=ann',
    });
    const { url } = await browser.follow(new URL(posted.headers.get('location') ?? '', form.url).href, isCallback);
    const answer = await browser.send(url.href);
    expect(answer.status, await answer.clone().text()).to.equal(200);
    // biome-ignore lint/suspicious/noExplicitAny: the answer of a sign-in
    const { data } = (await answer.json()) as any;
    return { browser, data: data as { refresh_token: string } };
  }

  it('names the user by the ID token, and the provider ends the sessions of all browsers of its session', async () => {
    const { browser, data } = await signIn();
    const begin = await browser.send(`${service.url}/auth/login/real/logout?redirect=/server/ping`);
    const location = new URL(begin.headers.get('location') as string);
    expect(location.searchParams.get('id_token_hint')).to.match(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    const page = await browser.follow(location.href);
    const html = (await page.response?.text()) ?? '';
    const fields = Object.fromEntries(
      [...html.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value]),
    );
    const action = /action="([^"]+)"/.exec(html)?.[1] as string;
    await browser.send(action, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ ...(fields as Record<string, string>), logout: 'yes' }).toString(),
    });
    const { refresh_token } = data;
    let token = refresh_token;
    await until(async () => {
      const reply = await service.request('POST', '/auth/refresh', { body: { refresh_token: token } });
      if (reply.status === 200) token = reply.body.data.refresh_token;
      return reply.status === 401;
    });
  });

  it('takes the ID token from the browser with its first use', async () => {
    const { browser } = await signIn();
    const address = `${service.url}/auth/login/real/logout?redirect=/server/ping`;
    const first = new URL((await browser.send(address)).headers.get('location') as string);
    const second = new URL((await browser.send(address)).headers.get('location') as string);
    expect([first, second].map((url) => url.searchParams.has('id_token_hint'))).to.deep.equal([true, false]);
  });
});
