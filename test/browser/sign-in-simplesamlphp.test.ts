import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { findFreePort } from '../support/free-port.ts';
import { SP_CERTIFICATE, SP_KEY } from '../support/saml-keys.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { type SimpleSamlPhp, startSimpleSamlPhp } from '../support/simplesamlphp.ts';
import { openChromium } from './chromium.ts';

const EDITOR = '00000000-0000-4000-8000-00000000000b';

/** A second implementation of SAML, so that service and tests are not right in the eyes of one only. */
for (const encrypts of [false, true]) {
  describe(`sign-in by SAML and SimpleSAMLphp, with ${encrypts ? 'encrypted' : 'plain'} assertions`, function () {
    this.timeout(180_000);
    let idp: SimpleSamlPhp;
    let service: InProcessService;
    let browser: Browser;
    let app: Server;
    let appUrl: string;

    before(async () => {
      const port = await findFreePort();
      const url = `http://127.0.0.1:${port}`;
      app = createServer((_request, response) => {
        response
          .setHeader('Content-Type', 'text/html')
          .end(
            `<!doctype html><form method="post" action="${url}/auth/login/corp/logout"><input type="hidden" name="redirect" value="${appUrl}/out"><button>Sign out here</button></form>`,
          );
      });
      await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
      appUrl = `http://127.0.0.1:${(app.address() as AddressInfo).port}`;
      idp = await startSimpleSamlPhp({
        service: `${url}/auth/login/corp`,
        encrypts,
        users: { ann: { email: ['ann@example.com'], givenName: ['Ann'], groups: ['staff', 'editors'] } },
      });
      service = await startService({
        env: {
          PORT: String(port),
          PUBLIC_URL: url,
          AUTH_CORP_DRIVER: 'saml',
          AUTH_CORP_IDP_METADATA_URL: idp.metadataUrl,
          AUTH_CORP_SP_PRIVATE_KEY: SP_KEY,
          AUTH_CORP_SP_CERTIFICATE: SP_CERTIFICATE,
          AUTH_CORP_ALLOW_PUBLIC_REGISTRATION: 'true',
          AUTH_CORP_ROLE_MAPPING: JSON.stringify({ editors: EDITOR }),
          AUTH_CORP_REDIRECT_ALLOW_LIST: `${appUrl}/in,${appUrl}/out`,
          AUTH_CORP_COOKIE_SECURE: 'true',
        },
      });
      await service.request('POST', '/roles', {
        token: service.admin.token,
        body: { id: EDITOR, name: 'Editors', app_access: true },
      });
      browser = await openChromium();
    });
    after(async () => {
      await browser?.close();
      app?.close();
      app?.closeAllConnections();
      await service?.stop();
      await idp?.stop();
    });

    async function signIn(page: Page): Promise<void> {
      await page.goto(`${service.url}/auth/login/corp?redirect=${encodeURIComponent(`${appUrl}/in`)}`);
      await page.locator('input[name=username]').fill('ann');
      await page.locator('input[name=password]').fill('ann');
      await page.locator('input[name=password]').press('Enter');
      await page.waitForURL(`${appUrl}/in`);
    }
    const refreshStatus = async (page: Page) =>
      (await page.context().request.post(`${service.url}/auth/refresh`)).status();

    it('registers the user, finds the same one again, and signs out here and there', async () => {
      for (let i = 0; i < 2; i++) {
        const context = await browser.newContext();
        const page = await context.newPage();
        page.setDefaultTimeout(60_000);
        await signIn(page);
        expect(await refreshStatus(page)).to.equal(200);
        await page.getByRole('button', { name: 'Sign out here' }).click();
        await page.waitForURL(`${appUrl}/out`);
        expect(await refreshStatus(page)).to.equal(401);
        // The identity provider asks for the password again.
        await signIn(page);
        await context.close();
      }
      const users = await service.database.query(
        "select external_identifier, email, first_name, role from platform_users where provider = 'corp'",
      );
      expect(users).to.deep.equal([
        { external_identifier: 'ann', email: 'ann@example.com', first_name: 'Ann', role: EDITOR },
      ]);
    });
  });
}
