import { expect } from 'chai';
import { createCookieBrowser } from '../../support/cookie-browser.ts';
import { findFreePort } from '../../support/free-port.ts';
import { type OpenIdServer, startOpenIdServer } from '../../support/openid-server.ts';
import { type SpawnedService, spawnService } from '../../support/service.ts';
import { openIdSettings } from './provider-fixture.ts';

describe('sign-in providers of two processes on one database', function () {
  this.timeout(300_000);
  let server: OpenIdServer;
  let first: SpawnedService;
  let second: SpawnedService;
  before(async () => {
    server = await startOpenIdServer();
    const port = await findFreePort();
    const env = {
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      ...openIdSettings('oidc', server, { ALLOW_PUBLIC_REGISTRATION: 'true' }),
    };
    first = await spawnService({ env: { ...env, PORT: String(port) } });
    second = await spawnService({ env, database: first.database });
  });
  after(async () => {
    await second?.stop();
    await first?.stop();
    await server?.stop();
  });

  /** Begins a sign-in at the first process, to which the provider returns the browser. */
  async function begin(): Promise<{ readonly url: URL; readonly cookie: string }> {
    const browser = createCookieBrowser();
    const { url } = await browser.follow(`${first.url}/auth/login/oidc`, (at) => at.pathname.endsWith('/callback'));
    const cookies = [...(browser.cookies.get(first.url) ?? [])].map(([name, value]) => `${name}=${value}`);
    return { url, cookie: cookies.join('; ') };
  }

  it('complete a sign-in once: of 50 simultaneous callbacks with one cookie one wins', async () => {
    server.user = { sub: 'once', email: 'once@example.com' };
    const { url, cookie } = await begin();
    const replies = await Promise.all(
      Array.from({ length: 50 }, async (_none, at) => {
        const origin = at % 2 === 0 ? first.url : second.url;
        const answer = await fetch(`${origin}${url.pathname}${url.search}`, { headers: { cookie } });
        const body = (await answer.json()) as { errors?: { extensions: { code: string } }[] };
        return body.errors?.[0]?.extensions.code ?? answer.status;
      }),
    );
    expect(replies.filter((one) => one === 200)).to.have.length(1);
    expect(replies.filter((one) => one === 'INVALID_TOKEN')).to.have.length(49);
  });

  it('make one user of simultaneous first sign-ins in both', async () => {
    server.user = { sub: 'twin', email: 'twin@example.com' };
    const begun = await Promise.all(Array.from({ length: 8 }, begin));
    const statuses = await Promise.all(
      begun.map(async ({ url, cookie }, at) => {
        const origin = at % 2 === 0 ? first.url : second.url;
        return (await fetch(`${origin}${url.pathname}${url.search}`, { headers: { cookie } })).status;
      }),
    );
    expect(statuses).to.deep.equal(Array(8).fill(200));
    const sql = "select count(*)::int as count from platform_users where email = 'twin@example.com'";
    expect(await first.database.query(sql)).to.deep.equal([{ count: 1 }]);
  });

  it('complete what the other one began', async () => {
    server.user = { sub: 'shared', email: 'shared@example.com' };
    const { url, cookie } = await begin();
    const answer = await fetch(`${second.url}${url.pathname}${url.search}`, { headers: { cookie } });
    expect(answer.status).to.equal(200);
  });
});
