import { expect } from 'chai';
import { Secret, TOTP } from 'otpauth';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { findFreePort } from '../support/free-port.ts';
import { startMailLinks } from '../support/mail-links.ts';
import { readMailContent } from '../support/mail-server.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { openChromium } from './chromium.ts';

const PASSWORD = 'a long password';

/** Sign-in pages with the plugins behind them, by links out of mails that a server has received. */
describe('links in mails, followed in a browser', function () {
  this.timeout(180_000);

  let mails: Awaited<ReturnType<typeof startMailLinks>>;
  let service: InProcessService;
  let browser: Browser;
  let origin: string;
  let role: string;
  const contexts: BrowserContext[] = [];

  before(async () => {
    mails = await startMailLinks();
    const port = String(await findFreePort());
    // Passkeys need a name in place of an address.
    origin = `http://localhost:${port}`;
    service = await startService({ env: { ...mails.env, PORT: port, PUBLIC_URL: origin } });
    browser = await openChromium();
    role = (await send('POST', '/roles', { name: 'writers', app_access: true })).id;
    await send('PATCH', '/settings', {
      auth_password_policy: '^.{8,}$',
      public_registration: true,
      public_registration_role: role,
    });
  });
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
  });
  after(async () => {
    await browser?.close();
    await service?.stop();
    await mails?.server.stop();
  });

  async function send(method: string, path: string, body?: unknown) {
    const reply = await service.request(method, path, { token: service.admin.token, body });
    expect(reply.status, JSON.stringify(reply.body)).to.be.below(300);
    return reply.body?.data;
  }
  async function open(options: { javaScriptEnabled?: boolean } = { javaScriptEnabled: false }): Promise<Page> {
    const context = await browser.newContext(options);
    contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    return page;
  }
  const problemOf = (page: Page) => page.getByRole('alert').first().textContent();
  async function setPassword(page: Page, password: string): Promise<void> {
    await page.getByLabel('New password', { exact: true }).fill(password);
    await page.getByLabel('New password again').fill(password);
    await page.getByRole('button').first().click();
  }
  async function signIn(page: Page, email: string, password: string): Promise<void> {
    await page.goto(`${origin}/admin/login`);
    await page.getByLabel('E-mail address').fill(email);
    await page.locator('#password').fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  }
  const isSignedIn = async (page: Page): Promise<boolean> => page.url() === `${origin}/admin`;

  /** Creates a user who has accepted an invitation on the page. */
  async function inviteAndAccept(page: Page, email: string): Promise<URL> {
    await send('POST', '/users/invite', { email, role });
    const link = await mails.linkFor(email);
    expect(link.origin + link.pathname).to.equal(`${origin}/admin/accept-invite`);
    await page.goto(link.href);
    await setPassword(page, PASSWORD);
    return link;
  }

  it('an invitation sets a password by the policy, once', async () => {
    const page = await open();
    await send('POST', '/users/invite', { email: 'ann@example.com', role });
    const link = await mails.linkFor('ann@example.com');
    await page.goto(link.href);
    await setPassword(page, 'short');
    expect(await problemOf(page)).to.match(/password/i);
    await setPassword(page, PASSWORD);
    await signIn(page, 'ann@example.com', PASSWORD);
    expect(await isSignedIn(page), page.url()).to.equal(true);
    await page.goto(link.href);
    await setPassword(page, 'another password');
    expect(await problemOf(page))
      .to.be.a('string')
      .and.not.equal('');
    const login = await service.request('POST', '/auth/login', {
      body: { email: 'ann@example.com', password: 'another password' },
    });
    expect(login.status).to.equal(401);
  });

  it('a reset asked for on the page sets another password, once', async () => {
    const page = await open();
    await inviteAndAccept(page, 'bea@example.com');
    await page.goto(`${origin}/admin/reset-password`);
    await page.getByLabel('E-mail address').fill('bea@example.com');
    await page.getByRole('button').click();
    const link = await mails.linkFor('bea@example.com', 1);
    expect(link.origin + link.pathname).to.equal(`${origin}/admin/reset-password`);
    await page.goto(link.href);
    await setPassword(page, 'a newer password');
    await signIn(page, 'bea@example.com', 'a newer password');
    expect(await isSignedIn(page), page.url()).to.equal(true);
    await page.goto(link.href);
    await setPassword(page, 'yet another one');
    expect(await problemOf(page))
      .to.be.a('string')
      .and.not.equal('');
    await signIn(await open(), 'bea@example.com', 'yet another one');
    const login = await service.request('POST', '/auth/login', {
      body: { email: 'bea@example.com', password: 'yet another one' },
    });
    expect(login.status).to.equal(401);
  });

  it('a registration is confirmed by the button of the page, and not by opening the link', async () => {
    const page = await open();
    const credentials = { email: 'cat@example.com', password: PASSWORD };
    expect((await service.request('POST', '/users/register', { body: credentials })).status).to.equal(204);
    const link = await mails.linkFor('cat@example.com');
    expect(link.origin + link.pathname).to.equal(`${origin}/admin/verify-email`);
    await page.goto(link.href);
    expect((await service.request('POST', '/auth/login', { body: credentials })).status).to.equal(401);
    await page.getByRole('button').click();
    expect((await service.request('POST', '/auth/login', { body: credentials })).status).to.equal(200);
  });

  it('a user with a second factor is asked for the code after the password', async () => {
    const page = await open();
    const email = 'dan@example.com';
    await inviteAndAccept(page, email);
    await send('PATCH', `/roles/${role}`, { enforce_tfa: true });
    const login = await service.request('POST', '/auth/login', { body: { email, password: PASSWORD } });
    const token = login.body.data.access_token as string;
    const generated = await service.request('POST', '/users/me/tfa/generate', { token, body: { password: PASSWORD } });
    const { secret } = generated.body.data;
    const totp = new TOTP({ secret: Secret.fromBase32(secret) });
    const enabled = await service.request('POST', '/users/me/tfa/enable', {
      token,
      body: { secret, otp: totp.generate() },
    });
    expect(enabled.status, JSON.stringify(enabled.body)).to.equal(204);
    await signIn(page, email, PASSWORD);
    await page.locator('#otp').fill('000000');
    await page.getByRole('button').first().click();
    expect(await problemOf(page)).to.match(/code/i);
    // The code of the step in which the factor was turned on is used up.
    await page.locator('#otp').fill(totp.generate({ timestamp: Date.now() + 30_000 }));
    await page.getByRole('button').first().click();
    expect(await isSignedIn(page), page.url()).to.equal(true);
  });

  it('a share is opened with its password, and shows the fields that its role may read', async () => {
    const key = { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } };
    const fields = [key, { field: 'title', type: 'string' }, { field: 'hidden', type: 'string' }];
    await send('POST', '/collections', { collection: 'tune', schema: {}, meta: {}, fields });
    await send('POST', '/items/tune', { title: 'So What', hidden: 'not for visitors' });
    await send('POST', '/permissions', {
      role,
      collection: 'tune',
      action: 'read',
      fields: ['id', 'title'],
      permissions: {},
    });
    const share = (await send('POST', '/shares', { collection: 'tune', item: '1', role, password: 'the password' })).id;
    await send('POST', '/shares/invite', { share, emails: ['eve@example.com'] });
    const sent = await until(() => mails.server.received.find(({ to }) => to.includes('eve@example.com')));
    const link = `${origin}/admin/share/${share}`;
    expect(readMailContent(sent.source).html).to.include(`href="${link}"`);
    const page = await open();
    await page.goto(link);
    await page.getByLabel('Password').fill('wrong');
    await page.getByRole('button').click();
    expect(await problemOf(page)).to.match(/password/i);
    await page.getByLabel('Password').fill('the password');
    await page.getByRole('button').click();
    const table = await page.locator('table').textContent();
    expect(table).to.include('So What').and.not.include('not for visitors');
    await send('DELETE', `/shares/${share}`);
    await page.reload();
    expect(await page.locator('table').count()).to.equal(0);
  });

  it('a passkey of a virtual authenticator signs in without address and password', async () => {
    const email = 'fay@example.com';
    await send('PATCH', `/roles/${role}`, { enforce_tfa: false });
    const page = await open({});
    await inviteAndAccept(page, email);
    const login = await service.request('POST', '/auth/login', { body: { email, password: PASSWORD } });
    await page.goto(`${origin}/admin/login`);
    const authenticator = await page.context().newCDPSession(page);
    await authenticator.send('WebAuthn.enable');
    await authenticator.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    const registered = await page.evaluate(`(async () => {
      const headers = { 'content-type': 'application/json', authorization: 'Bearer ${login.body.data.access_token}' };
      const call = async (path, body) => (await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })).json();
      const { data } = await call('/users/me/passkeys/options', { password: '${PASSWORD}' });
      const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(data);
      const credential = await navigator.credentials.create({ publicKey });
      return call('/users/me/passkeys', { credential: credential.toJSON(), name: 'test' });
    })()`);
    expect(JSON.stringify(registered)).to.include('"name":"test"');
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.waitForURL(`${origin}/admin`);
    expect(await page.locator('main').textContent()).to.include(email);
  });
});
