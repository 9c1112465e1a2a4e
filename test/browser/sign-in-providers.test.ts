import { expect } from 'chai';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import {
  oauth2Settings,
  openIdSettings,
  type ProviderFixture,
  startProviderFixture,
  userOf,
} from '../plugins/auth-providers/provider-fixture.ts';
import { codeOf, forgetUsedSteps, wrongCodeOf } from '../plugins/two-factor/two-factor-users.ts';
import { createUserSender } from '../plugins/users/test-users.ts';
import { findFreePort } from '../support/free-port.ts';
import { REAL_PROVIDER_CLIENT, type RealOpenIdProvider, startOidcProvider } from '../support/oidc-provider.ts';
import { openChromium } from './chromium.ts';

const MEMBER = '00000000-0000-4000-8000-00000000000a';
const EDITOR = '00000000-0000-4000-8000-00000000000b';

describe('sign-in by a provider in a browser', function () {
  this.timeout(180_000);
  let fixture: ProviderFixture;
  let real: RealOpenIdProvider;
  let browser: Browser;
  const contexts: BrowserContext[] = [];

  before(async () => {
    const port = await findFreePort();
    const url = `http://127.0.0.1:${port}`;
    real = await startOidcProvider(url, 'corp');
    const common = { ALLOW_PUBLIC_REGISTRATION: 'true', DEFAULT_ROLE_ID: MEMBER };
    fixture = await startProviderFixture({
      env: { PORT: String(port), PUBLIC_URL: url },
      providers: (server) => ({
        AUTH_CORP_DRIVER: 'openid',
        AUTH_CORP_ISSUER_URL: real.issuer,
        AUTH_CORP_CLIENT_ID: REAL_PROVIDER_CLIENT.id,
        AUTH_CORP_CLIENT_SECRET: REAL_PROVIDER_CLIENT.secret,
        AUTH_CORP_ALLOW_PUBLIC_REGISTRATION: 'true',
        AUTH_CORP_DEFAULT_ROLE_ID: MEMBER,
        AUTH_CORP_ROLE_MAPPING: JSON.stringify({ editors: EDITOR }),
        AUTH_CORP_REDIRECT_ALLOW_LIST: `${server.issuer}/done`,
        ...openIdSettings('posting', server, { ...common, PARAMS: '{"response_mode":"form_post"}' }),
        ...oauth2Settings('plain', server, common),
      }),
    });
    browser = await openChromium();
  });
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
  });
  after(async () => {
    await browser?.close();
    await fixture?.stop();
    await real?.stop();
  });

  async function openPage(): Promise<Page> {
    const context = await browser.newContext();
    contexts.push(context);
    return context.newPage();
  }

  /** Begins a sign-in by the real provider and enters the name, where the provider asks for it. */
  async function signInAs(page: Page, name: string, query: string): Promise<void> {
    await page.goto(`${fixture.service.url}/auth/login/corp${query}`);
    if (!page.url().startsWith(real.issuer)) return;
    await page.fill('input[name=login]', name);
    await page.click('button');
    await page.waitForURL(`${fixture.service.url}/**`);
  }

  /** The user of the browser's session, as a page reads it with the access token that the cookie is exchanged for. */
  async function meOf(page: Page) {
    const { url } = fixture.service;
    const refreshed = await (await page.request.post(`${url}/auth/refresh`)).json();
    const headers = { authorization: `Bearer ${refreshed.data?.access_token}` };
    return (await (await page.request.get(`${url}/users/me?fields=id,email,first_name,role`, { headers })).json()).data;
  }

  it('a real OpenID provider: the first sign-in registers, a second links, a group moves the role', async () => {
    real.users.set('ann', { email: 'ann@example.com', email_verified: true, given_name: 'Ann', groups: ['staff'] });
    const page = await openPage();
    await signInAs(page, 'ann', '?redirect=/server/ping');
    expect(page.url()).to.equal(`${fixture.service.url}/server/ping`);
    const first = await meOf(page);
    expect(first).to.include({ email: 'ann@example.com', first_name: 'Ann', role: MEMBER });

    real.users.set('ann', { email: 'ann@example.com', email_verified: true, groups: ['staff', 'editors'] });
    const other = await openPage();
    await signInAs(other, 'ann', '?redirect=/server/ping');
    expect(await meOf(other)).to.include({ id: first.id, role: EDITOR });

    // The provider still knows the browser, and does not ask.
    real.users.set('ann', { email: 'ann@example.com', email_verified: true, groups: [] });
    await other.goto(`${fixture.service.url}/auth/login/corp?redirect=/server/ping`);
    expect(await meOf(other)).to.include({ id: first.id, role: MEMBER });
  });

  it('a real OpenID provider: mode json shows the tokens, and no cookie is set', async () => {
    real.users.set('bob', { email: 'bob@example.com', email_verified: true });
    const page = await openPage();
    await signInAs(page, 'bob', '');
    const { data } = JSON.parse((await page.textContent('body')) ?? '');
    expect(data).to.have.all.keys('access_token', 'refresh_token', 'expires');
    expect((await page.context().cookies(fixture.service.url)).map(({ name }) => name)).to.deep.equal([]);
  });

  it('the cookies of a sign-in are HttpOnly, and no script sees them', async () => {
    real.users.set('eve', { email: 'eve@example.com', email_verified: true });
    const page = await openPage();
    await page.goto(`${fixture.service.url}/auth/login/corp?redirect=/server/ping`);
    const [pending] = await page.context().cookies(`${fixture.service.url}/auth/login/corp/callback`);
    expect(pending).to.include({ name: 'service_sign_in_corp', httpOnly: true, sameSite: 'Lax' });
    await page.fill('input[name=login]', 'eve');
    await page.click('button');
    await page.waitForURL(`${fixture.service.url}/**`);
    expect(await page.evaluate('document.cookie')).to.equal('');
    const cookies = await page.context().cookies(`${fixture.service.url}/auth/login/corp/callback`);
    expect(cookies.map(({ name, httpOnly }) => [name, httpOnly])).to.deep.equal([['service_refresh_token', true]]);
  });

  it('a real OpenID provider: sign-out ends the session at the provider and comes back', async () => {
    real.users.set('cid', { email: 'cid@example.com', email_verified: true });
    const page = await openPage();
    await signInAs(page, 'cid', '?redirect=/server/ping');
    expect((await page.request.post(`${fixture.service.url}/auth/logout`)).status()).to.equal(204);
    const back = encodeURIComponent('/server/ping');
    await page.goto(`${fixture.service.url}/auth/login/corp/logout?redirect=${back}`);
    expect(page.url()).to.contain(real.issuer);
    await page.click('button[name=logout]');
    await page.waitForURL(`${fixture.service.url}/server/ping`);
    await page.goto(`${fixture.service.url}/auth/login/corp?redirect=/server/ping`);
    expect(page.url(), 'the provider asks again').to.contain(`${real.issuer}/interaction/`);
  });

  it('a second factor: the page asks for the code, and the sign-in ends where it was to end, also at another origin', async () => {
    const { service, server } = fixture;
    await service.request('PATCH', `/roles/${MEMBER}`, { token: service.admin.token, body: { enforce_tfa: true } });
    real.users.set('dan', { email: 'dan@example.com', email_verified: true });
    const first = await openPage();
    await signInAs(first, 'dan', '');
    const { data } = JSON.parse((await first.textContent('body')) ?? '');
    const send = createUserSender(service, data.access_token);
    const { secret } = (await send('POST', '/users/me/tfa/generate', {})).body.data as { secret: string };
    expect((await send('POST', '/users/me/tfa/enable', { secret, otp: codeOf(secret) })).status).to.equal(204);
    for (const target of [`${service.url}/server/ping`, `${server.issuer}/done`]) {
      await forgetUsedSteps(service.database);
      const page = await openPage();
      await signInAs(page, 'dan', `?redirect=${encodeURIComponent(target)}`);
      expect(page.url()).to.equal(`${service.url}/admin/login/code?provider=corp`);
      await page.fill('#otp', wrongCodeOf(secret));
      await page.click('button.primary');
      await page.waitForSelector('#problem');
      await page.fill('#otp', codeOf(secret));
      await page.click('button.primary');
      await page.waitForURL(target);
      expect(await meOf(page)).to.include({ email: 'dan@example.com' });
    }
  });

  it('a provider that posts a form to the callback signs in as well', async () => {
    fixture.server.user = { sub: 'poster', email: 'poster@example.com', email_verified: true };
    const page = await openPage();
    await page.goto(`${fixture.service.url}/auth/login/posting?redirect=/server/ping`);
    await page.waitForURL(`${fixture.service.url}/server/ping`);
    expect(await meOf(page)).to.include({ email: 'poster@example.com' });
  });

  it('a plain OAuth2 server: registers, links, and a failure ends at the page with its reason', async () => {
    fixture.server.user = { sub: 'plain-1', email: 'plain@example.com', given_name: 'Pia' };
    for (let count = 0; count < 2; count++) {
      const page = await openPage();
      await page.goto(`${fixture.service.url}/auth/login/plain?redirect=/server/ping`);
      expect(await meOf(page)).to.include({ email: 'plain@example.com', first_name: 'Pia' });
    }
    expect(await userOf(fixture.service, 'plain@example.com')).to.include({ provider: 'plain' });
    fixture.server.user = { sub: 'plain-2', email: fixture.service.admin.email };
    const page = await openPage();
    await page.goto(`${fixture.service.url}/auth/login/plain?redirect=/server/ping`);
    expect(page.url()).to.equal(`${fixture.service.url}/server/ping?reason=INVALID_PROVIDER`);
  });
});
