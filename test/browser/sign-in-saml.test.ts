import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { findFreePort } from '../support/free-port.ts';
import { type SamlIdentityProvider, startSamlIdentityProvider } from '../support/saml-identity-provider.ts';
import { SP_CERTIFICATE, SP_KEY } from '../support/saml-keys.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { openChromium } from './chromium.ts';

const MEMBER = '00000000-0000-4000-8000-00000000000a';
const EDITOR = '00000000-0000-4000-8000-00000000000b';

/**
 * The identity provider is another site than the service (localhost, 127.0.0.1), as in real life: its forms bring no cookie that is not
 * for other sites.
 */
describe('sign-in by SAML in a browser', function () {
  this.timeout(120_000);
  let idp: SamlIdentityProvider;
  let service: InProcessService;
  let browser: Browser;
  /** The pages of an app: another origin of the same site as the service. */
  let app: Server;
  let appUrl: string;

  before(async () => {
    app = createServer((_request, response) => {
      response.setHeader('Content-Type', 'text/html').end(renderAppPage(service.url, appUrl));
    });
    await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
    appUrl = `http://127.0.0.1:${(app.address() as AddressInfo).port}`;
    idp = await startSamlIdentityProvider('localhost');
    const port = await findFreePort();
    const url = `http://127.0.0.1:${port}`;
    idp.spMetadataUrl = `${url}/auth/login/corp/metadata`;
    service = await startService({
      env: {
        PORT: String(port),
        PUBLIC_URL: url,
        AUTH_CORP_DRIVER: 'saml',
        AUTH_CORP_IDP_METADATA_URL: idp.metadataUrl,
        AUTH_CORP_SP_PRIVATE_KEY: SP_KEY,
        AUTH_CORP_SP_CERTIFICATE: SP_CERTIFICATE,
        AUTH_CORP_SP_WANT_ASSERTIONS_SIGNED: 'true',
        AUTH_CORP_REDIRECT_ALLOW_LIST: `${appUrl}/in,${appUrl}/out`,
        AUTH_CORP_ALLOW_PUBLIC_REGISTRATION: 'true',
        AUTH_CORP_DEFAULT_ROLE_ID: MEMBER,
        AUTH_CORP_ROLE_MAPPING: JSON.stringify({ editors: EDITOR }),
        // Browsers take such cookies from their own machine without TLS, too.
        AUTH_CORP_COOKIE_SECURE: 'true',
      },
    });
    for (const [id, name] of [
      [MEMBER, 'Members'],
      [EDITOR, 'Editors'],
    ])
      await service.request('POST', '/roles', { token: service.admin.token, body: { id, name, app_access: true } });
    browser = await openChromium();
  });
  after(async () => {
    await browser?.close();
    app?.close();
    app?.closeAllConnections();
    await service?.stop();
    await idp?.stop();
  });

  /** Runs `visit` in a browser that has no cookies. */
  async function inBrowser<T>(visit: (page: Page) => Promise<T>): Promise<T> {
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
      return await visit(page);
    } finally {
      await context.close();
    }
  }

  async function signIn(page: Page, query = `?redirect=${encodeURIComponent(`${appUrl}/in`)}`): Promise<void> {
    await page.goto(`${service.url}/auth/login/corp${query}`);
    expect(new URL(page.url()).origin).to.equal(new URL(idp.entityId).origin);
    await page.getByRole('button', { name: `Continue as ${idp.user.name}` }).click();
    await page.waitForURL((url) => [service.url, appUrl].includes(url.origin));
  }
  /** The status of a refresh with the cookies of the browser. */
  const refreshStatus = async (page: Page) =>
    (await page.context().request.post(`${service.url}/auth/refresh`)).status();
  const users = () =>
    service.database.query<{ external_identifier: string; role: string }>(
      "select external_identifier, role from platform_users where provider = 'corp'",
    );

  for (const encrypts of [false, true]) {
    it(`registers a user, finds the same one again and moves the role, with ${encrypts ? 'encrypted' : 'plain'} assertions`, async () => {
      idp.encrypts = encrypts;
      const name = `ann-${encrypts}`;
      for (const [groups, role] of [
        [[], MEMBER],
        [['editors'], EDITOR],
        [['staff'], MEMBER],
      ] as const) {
        idp.user = { name, email: `${name}@example.com`, groups };
        await inBrowser(async (page) => {
          await signIn(page);
          expect(page.url()).to.equal(`${appUrl}/in`);
          expect(await refreshStatus(page)).to.equal(200);
        });
        expect((await users()).filter((user) => user.external_identifier === name)).to.deep.equal([
          { external_identifier: name, role },
        ]);
      }
      idp.encrypts = false;
    });
  }

  it('answers the tokens in mode json', async () => {
    idp.user = { name: 'bob' };
    const text = await inBrowser(async (page) => {
      await signIn(page, '');
      return page.locator('pre').textContent();
    });
    expect(JSON.parse(text ?? '').data).to.have.all.keys('access_token', 'refresh_token', 'expires');
  });

  it('signs out here and at the identity provider, and returns to the redirect', async () => {
    idp.user = { name: 'cid' };
    await inBrowser(async (page) => {
      await signIn(page);
      await page.getByRole('button', { name: 'Sign out here' }).click();
      await page.waitForURL((url) => url.pathname === '/slo');
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.waitForURL(`${appUrl}/out`);
      expect(await refreshStatus(page)).to.equal(401);
    });
  });

  it('signs out here where the user signs out at the identity provider', async () => {
    idp.user = { name: 'dan' };
    const before = idp.successfulLogouts;
    await inBrowser(async (page) => {
      await signIn(page);
      await page.goto(`${new URL(idp.entityId).origin}/begin-logout`);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByText('Signed out of all services.').waitFor();
      expect(idp.successfulLogouts).to.equal(before + 1);
      expect(await refreshStatus(page)).to.equal(401);
    });
  });

  it('ends at the redirect with a reason where the address is that of a user of another provider', async () => {
    idp.user = { name: 'eve', email: service.admin.email };
    await inBrowser(async (page) => {
      await signIn(page);
      expect(page.url()).to.equal(`${appUrl}/in?reason=INVALID_PROVIDER`);
      expect(await refreshStatus(page)).to.equal(401);
    });
  });
});

const renderAppPage = (serviceUrl: string, appUrl: string): string =>
  `<!doctype html><title>App</title><form method="post" action="${serviceUrl}/auth/login/corp/logout"><input type="hidden" name="redirect" value="${appUrl}/out"><button>Sign out here</button></form>`;
