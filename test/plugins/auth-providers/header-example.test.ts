import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { type AuthDriverKit, describeAuthDriver, readPackageDriver } from '../../support/auth-driver-suite.ts';
import { createCookieBrowser } from '../../support/cookie-browser.ts';
import { findFreePort } from '../../support/free-port.ts';
import { type InProcessService, startService } from '../../support/service.ts';
import { type TestComposition, writeTestPluginPackages } from '../../support/test-plugins.ts';
import { until } from '../../support/until.ts';
import { problemsOf, reportOf, runAuthCheck, textOf } from './check-run.ts';

const EXAMPLE = fileURLToPath(new URL('../../../extensions/examples/auth-header/', import.meta.url));
const SECRET = 'a text that the proxy and the service know';

const headersOf = (user: string, groups: string) => ({
  'x-proxy-secret': SECRET,
  'x-forwarded-user': user,
  'x-forwarded-email': `${user}@example.com`,
  'x-forwarded-groups': groups,
});

describeAuthDriver(
  'header of the example',
  'redirect',
  async (): Promise<AuthDriverKit> => ({
    declaration: readPackageDriver((await import(join(EXAMPLE, 'index.js'))).default),
    settings: { SECRET },
    secrets: [SECRET],
    knowsVerifiedEmail: false,
    visit: async (location) => location.searchParams,
    headersOf: (user) => headersOf(user, user === 'ann' ? 'editors, staff' : 'staff'),
    forgedHeaders: [
      { ...headersOf('ann', ''), 'x-proxy-secret': 'another' },
      { ...headersOf('ann', ''), 'x-proxy-secret': '' },
      { ...headersOf('', '') },
    ],
    stop: async () => {},
  }),
  { hasProvider: false },
);

/** Tests a copy of the example in an EXTENSIONS_PATH outside of the repository, as its README says to install it. */
describe('example extension auth-header', function () {
  this.timeout(120_000);
  let extension: TestComposition;
  let service: InProcessService;
  before(async () => {
    extension = await writeTestPluginPackages([]);
    await cp(EXAMPLE, join(extension.folder, 'local/auth-header'), { recursive: true });
    const port = String(await findFreePort());
    service = await startService({
      env: {
        PORT: port,
        PUBLIC_URL: `http://127.0.0.1:${port}`,
        EXTENSIONS_PATH: join(extension.folder, 'local'),
        AUTH_PROXY_DRIVER: 'header',
        AUTH_PROXY_SECRET: SECRET,
        AUTH_PROXY_ALLOW_PUBLIC_REGISTRATION: 'true',
      },
    });
  });
  after(async () => {
    await service?.stop();
    await extension?.remove();
  });

  async function signIn(headers: Record<string, string>) {
    const browser = createCookieBrowser();
    const begin = await browser.send(`${service.url}/auth/login/proxy`);
    const answer = await browser.send(begin.headers.get('location') ?? '', { headers });
    // biome-ignore lint/suspicious/noExplicitAny: an answer of either kind
    const body = (await answer.json()) as any;
    return { status: answer.status, code: body.errors?.[0]?.extensions.code, token: body.data?.access_token };
  }

  it('signs in the user whom the proxy names, and registers it once', async () => {
    const headers = { 'x-proxy-secret': SECRET, 'x-forwarded-user': 'ann', 'x-forwarded-email': 'ann@example.com' };
    const replies = [await signIn(headers), await signIn(headers)];
    expect(replies.map(({ status }) => status)).to.deep.equal([200, 200]);
    const sql = 'select provider, external_identifier, email from platform_users where provider = $1';
    expect(await service.database.query(sql, ['proxy'])).to.deep.equal([
      { provider: 'proxy', external_identifier: 'ann', email: 'ann@example.com' },
    ]);
  });

  for (const [what, headers] of [
    ['no secret', { 'x-forwarded-user': 'ann' }],
    ['a wrong secret', { 'x-proxy-secret': 'another', 'x-forwarded-user': 'ann' }],
    ['no user', { 'x-proxy-secret': SECRET }],
  ] as const) {
    it(`refuses a request with ${what} with INVALID_CREDENTIALS`, async () => {
      expect(await signIn(headers)).to.deep.equal({ status: 401, code: 'INVALID_CREDENTIALS', token: undefined });
    });
  }

  it('refuses sign-ins while the package is removed, and goes on once it is there again', async () => {
    const folder = join(extension.folder, 'local/auth-header');
    const headers = { 'x-proxy-secret': SECRET, 'x-forwarded-user': 'bob' };
    const reload = () => service.request('POST', '/extensions/reload', { token: service.admin.token, body: {} });
    await rm(folder, { recursive: true });
    await reload();
    const begin = await service.request('GET', '/auth/login/proxy');
    expect([begin.status, begin.body.errors?.[0].extensions.code]).to.deep.equal([401, 'INVALID_PROVIDER']);
    await cp(EXAMPLE, folder, { recursive: true });
    await reload();
    await until(async () => (await service.request('GET', '/auth/login/proxy')).status === 302);
    expect((await signIn(headers)).status).to.equal(200);
    expect((await service.request('GET', '/auth')).body.data).to.have.length(1);
  });

  it('is checked by auth check as the drivers of the service are', async () => {
    const settings = {
      PUBLIC_URL: service.url,
      EXTENSIONS_PATH: join(extension.folder, 'local'),
      AUTH_PROXY_DRIVER: 'header',
      AUTH_PROXY_SECRET: 'a short secret',
    };
    const run = await runAuthCheck(service.database, ['proxy', '--json', '--user', 'ann'], settings);
    const report = reportOf(run);
    expect(problemsOf(report, 'proxy'), run.all).to.deep.equal(['warn secret', 'warn role']);
    expect(textOf(report, 'proxy', 'callback answers')).to.contain('ok: the service answers there');
    expect(textOf(report, 'proxy', 'account')).to.match(
      /^ok: the user [0-9a-f-]{36} \(ann@example.com\), found by its/,
    );
    expect(run.all).not.to.contain('a short secret');
  });

  it('is listed as a package with full authority that identifies users', async () => {
    const { body } = await service.request('GET', '/extensions', { token: service.admin.token });
    expect(body.data.find((one: { name: string }) => one.name === 'auth-header')).to.include({ status: 'loaded' });
    const line = service.kernel.audit().find(({ name }) => name === 'auth-header');
    expect(JSON.stringify(line)).to.contain('users of providers with the driver header');
  });
});
