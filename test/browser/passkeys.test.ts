import { once } from 'node:events';
import { createServer, request as forward, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { createSignedInUser, type SignedInUser } from '../plugins/passkeys/passkey-fixture.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { openChromium } from './chromium.ts';

/** A page whose functions use the routes as the README of the plugin says. */
const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Passkeys</title><link rel="icon" href="data:,"><script>
  async function send(method, path, body, token) {
    const headers = { 'content-type': 'application/json', ...(token ? { authorization: 'Bearer ' + token } : {}) };
    const response = await fetch(path, { method, headers, body: body && JSON.stringify(body) });
    const text = await response.text();
    return { status: response.status, ...(text ? JSON.parse(text) : {}) };
  }
  async function register(token, password, name) {
    const { data } = await send('POST', '/users/me/passkeys/options', { password }, token);
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(data);
    const credential = await navigator.credentials.create({ publicKey });
    return send('POST', '/users/me/passkeys', { credential: credential.toJSON(), name }, token);
  }
  async function signIn(mode) {
    const { data } = await send('POST', '/auth/login/passkey/options');
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(data);
    const credential = await navigator.credentials.get({ publicKey });
    return send('POST', '/auth/login/passkey', { credential: credential.toJSON(), mode });
  }
</script></html>`;

type PageFunctions = {
  register(token: string, password: string, name: string): Promise<Answer>;
  signIn(mode?: string): Promise<Answer>;
  send(method: string, path: string, body?: unknown, token?: string): Promise<Answer>;
};
interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of several routes
  readonly data?: any;
}

describe('passkeys in a browser', function () {
  // On a busy machine the browser takes long to start.
  this.timeout(180_000);

  let service: InProcessService;
  let site: Server;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let user: SignedInUser;
  let origin: string;

  before(async () => {
    // Serves the page, and passes everything else on to the service.
    site = createServer((incoming, outgoing) => {
      const { url = '', method, headers } = incoming;
      if (url === '/page') return void outgoing.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
      const passed = forward(service.url + url, { method, headers }, (response) => {
        outgoing.writeHead(response.statusCode as number, response.headers);
        response.pipe(outgoing);
      });
      passed.on('error', () => outgoing.destroy());
      incoming.pipe(passed);
    }).listen(0, '127.0.0.1');
    await once(site, 'listening');
    origin = `http://localhost:${(site.address() as AddressInfo).port}`;
    service = await startService({ env: { PUBLIC_URL: origin } });
    browser = await openChromium();
  });
  beforeEach(async () => {
    user = await createSignedInUser(service);
    context = await browser.newContext();
    page = await context.newPage();
    page.setDefaultTimeout(60_000);
    await page.goto(`${origin}/page`);
  });
  afterEach(() => context?.close());
  after(async () => {
    await browser?.close();
    await service?.stop();
    site?.closeAllConnections();
    site?.close();
  });

  /** Plugs a virtual authenticator in, which holds passkeys and verifies its user, or cannot. */
  async function plugIn({ isUserVerified = true } = {}) {
    const session = await context.newCDPSession(page);
    await session.send('WebAuthn.enable');
    const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified,
        automaticPresenceSimulation: true,
      },
    });
    const credentials = async () => (await session.send('WebAuthn.getCredentials', { authenticatorId })).credentials;
    return { credentials };
  }
  const register = (name: string) =>
    page.evaluate(
      ([token, password, title]) => (globalThis as unknown as PageFunctions).register(token, password, title),
      [user.token, user.password, name] as const,
    );
  const signIn = (mode?: string) => page.evaluate((one) => (globalThis as unknown as PageFunctions).signIn(one), mode);
  const send = (method: string, path: string, body?: unknown) =>
    page.evaluate(([verb, at, sent, token]) => (globalThis as unknown as PageFunctions).send(verb, at, sent, token), [
      method,
      path,
      body,
      user.token,
    ] as const);

  it('are registered, sign in without an e-mail address and a password, are renamed and removed', async () => {
    const { credentials } = await plugIn();
    const registered = await register('Laptop');
    expect(registered.status, JSON.stringify(registered)).to.equal(200);
    const [held] = await credentials();
    expect(held?.isResidentCredential).to.equal(true);
    expect(held?.rpId).to.equal('localhost');

    for (let times = 3; times > 0; times--) {
      const signedIn = await signIn();
      expect(signedIn.status, JSON.stringify(signedIn)).to.equal(200);
      const me = await service.request('GET', '/users/me?fields=id', { token: signedIn.data.access_token });
      expect(me.body.data.id).to.equal(user.id);
    }
    const path = `/users/me/passkeys/${registered.data.id}`;
    expect((await send('PATCH', path, { name: 'Work laptop' })).data.name).to.equal('Work laptop');
    const { data: list } = await send('GET', '/users/me/passkeys');
    expect(list).to.have.length(1);
    expect(list[0]).to.include({ name: 'Work laptop' });
    expect(list[0].last_used).to.be.a('string');

    expect((await send('DELETE', path)).status).to.equal(204);
    expect((await signIn()).status).to.equal(401);
  });

  it('sign in with the refresh token in a cookie that scripts cannot read', async () => {
    await plugIn();
    await register('Phone');
    const signedIn = await signIn('cookie');
    expect(signedIn.data).to.have.keys('access_token', 'expires');
    const [cookie] = await context.cookies();
    expect(cookie).to.include({ name: 'service_refresh_token', httpOnly: true });
  });

  it('are not registered a second time on the same device', async () => {
    const { credentials } = await plugIn();
    await register('First');
    const error = await register('Second').catch(({ message }: Error) => message);
    expect(error).to.contain('InvalidStateError');
    expect(await credentials()).to.have.length(1);
  });

  it('are not made by a device that cannot verify its user', async () => {
    const { credentials } = await plugIn({ isUserVerified: false });
    const error = await register('Unverified').catch(({ message }: Error) => message);
    expect(error).to.contain('NotAllowedError');
    expect(await credentials()).to.deep.equal([]);
    expect((await send('GET', '/users/me/passkeys')).data).to.deep.equal([]);
  });
});
