import { expect } from 'chai';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { type InProcessService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { openChromium } from './chromium.ts';
import { startProxy } from './reverse-proxy.ts';

const HTML = { accept: 'text/html' };

/** A page in a fresh browser context, and the errors on it. */
interface Visit {
  readonly page: Page;
  /** Console errors, exceptions, and requests that failed or went to other hosts. */
  readonly problems: string[];
}

describe('the GraphQL explorer in a browser', function () {
  // On a busy machine the page takes long to build and to render.
  this.timeout(120_000);

  let service: InProcessService;
  let browser: Browser;
  const contexts: BrowserContext[] = [];

  before(async () => {
    service = await startService({ env: { WEBSOCKETS_ENABLED: 'true' } });
    browser = await openChromium();
    const { request, admin } = service;
    const reply = await request('POST', '/collections', {
      token: admin.token,
      body: {
        collection: 'tune',
        schema: {},
        meta: {},
        fields: [
          { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } },
          { field: 'title', type: 'string' },
          { field: 'extra', type: 'json' },
        ],
      },
    });
    expect(reply.status, JSON.stringify(reply.body)).to.equal(200);
    const rows = [{ title: 'So What' }, { title: 'Naima' }];
    expect((await request('POST', '/items/tune', { token: admin.token, body: rows })).status).to.equal(200);
  });
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
  });
  after(async () => {
    await browser?.close();
    await service?.stop();
  });

  async function visit(path: string, at = service.url): Promise<Visit> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    contexts.push(context);
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const page = await context.newPage();
    const problems: string[] = [];
    page.setDefaultTimeout(60_000);
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => problems.push(`exception: ${error.message}`));
    page.on('requestfailed', (request) => {
      // A closed page aborts its pending requests.
      const why = request.failure()?.errorText;
      if (why !== 'net::ERR_ABORTED') problems.push(`no answer: ${request.url()} ${why}`);
    });
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      if (origin !== new URL(at).origin && protocol !== 'data:') problems.push(`elsewhere: ${request.url()}`);
    });
    await page.goto(at + path);
    await page.locator('.graphiql-query-editor .view-lines').waitFor();
    return { page, problems };
  }

  async function tryToSignIn(page: Page, password: string): Promise<void> {
    await page.getByRole('button', { name: 'Sign in' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('E-mail').fill(service.admin.email);
    await dialog.getByLabel('Password').fill(password);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
  }

  async function signIn(page: Page): Promise<void> {
    await tryToSignIn(page, service.admin.password);
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
  }

  /** Pastes a text, since the editor closes typed braces itself. Waits for `shown`. */
  async function write(page: Page, editor: string, text: string, shown: string): Promise<void> {
    const lines = page.locator(`${editor} .view-lines`);
    await lines.click();
    await page.keyboard.press('Control+A');
    await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
    await page.keyboard.press('Control+V');
    await lines.getByText(shown).waitFor();
  }

  const document = (page: Page, text: string, shown: string) => write(page, '.graphiql-query-editor', text, shown);
  const run = (page: Page) => page.getByRole('button', { name: 'Execute query' }).click();
  const answer = (page: Page, text: string) => page.locator('.result-window').getByText(text).waitFor();

  it('shows the schema of the signed-in user and runs the document in the editor', async () => {
    const { page, problems } = await visit('/graphql');
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    const docs = page.locator('.graphiql-plugin');
    const query = docs.getByRole('link', { name: 'Query', exact: true });
    await query.waitFor();
    await query.click();
    await docs.getByText('Fields').waitFor();
    expect(await docs.getByRole('link', { name: 'tune_by_id' }).count()).to.equal(0);

    await signIn(page);
    await docs.getByRole('link', { name: 'tune_by_id' }).waitFor();
    await document(page, '{\n  tune(sort: ["title"]) { id title }\n}', 'id title');
    await page.keyboard.press('Control+Enter');
    await answer(page, '"Naima"');
    expect(problems).to.deep.equal([]);
  });

  it('fills in "query" and "variables" from its URL without running them', async () => {
    const query = 'query One($id: ID!) { tune_by_id(id: $id) { title } }';
    const parameters = new URLSearchParams({ query, variables: '{"id":"1"}' });
    const { page, problems } = await visit(`/graphql?${parameters}`);
    const sent: string[] = [];
    page.on('request', (request) => sent.push(request.postData() ?? ''));
    await signIn(page);
    expect(await page.locator('.graphiql-query-editor').getByText('tune_by_id').count()).to.equal(1);
    expect(sent.filter((body) => body.includes('tune_by_id'))).to.deep.equal([]);

    await run(page);
    await answer(page, '"So What"');
    expect(problems).to.deep.equal([]);
  });

  it('shows each response of a subscription', async () => {
    const { page, problems } = await visit('/graphql');
    await signIn(page);
    await document(page, 'subscription {\n  tune_mutated(event: create) { data { title } }\n}', 'tune_mutated');
    await run(page);
    const { token } = service.admin;
    const shown = page.locator('.result-window').getByText('"Blue in Green"').first();
    // The page does not show when it is subscribed: an item that comes before is not part of it. Many at once would only slow it down.
    await until(async () => {
      await service.request('POST', '/items/tune', { token, body: { title: 'Blue in Green' } });
      return shown.waitFor({ timeout: 2000 }).then(
        () => true,
        () => false,
      );
    });
    expect(problems).to.deep.equal([]);
  });

  it('sends the headers from the editor, which replace its own', async () => {
    const { page, problems } = await visit('/graphql');
    await page.getByRole('button', { name: 'Headers' }).click();
    const headers = JSON.stringify({ authorization: `Bearer ${service.admin.token}` });
    await write(page, '.graphiql-editor-tool .graphiql-editor:not(.hidden)', headers, 'authorization');
    await document(page, '{\n  tune(limit: 1) { title }\n}', 'title');
    await run(page);
    await answer(page, '"So What"');
    expect(problems).to.deep.equal([]);
  });

  it('shows the system schema at /graphql/system', async () => {
    const { page, problems } = await visit('/graphql');
    await page.getByRole('link', { name: 'System' }).click();
    await page.waitForURL('**/graphql/system');
    await signIn(page);
    await document(page, '{\n  users_me { email }\n}', 'email');
    await run(page);
    await answer(page, `"${service.admin.email}"`);
    expect(problems).to.deep.equal([]);
  });

  it('works behind a proxy that serves the service below a path', async () => {
    const proxy = await startProxy(service.url, '/below');
    try {
      const { page, problems } = await visit('/graphql/system', proxy.url);
      await signIn(page);
      await page.getByRole('link', { name: 'Items' }).click();
      await page.waitForURL('**/below/graphql');
      await document(page, '{\n  tune(limit: 1) { title }\n}', 'title');
      await run(page);
      await answer(page, '"So What"');
      expect(problems).to.deep.equal([]);
    } finally {
      await proxy.stop();
    }
  });

  it('keeps the session over a reload and drops it on sign-out', async () => {
    const { page, problems } = await visit('/graphql');
    await signIn(page);
    await page.reload();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await page.evaluate('JSON.stringify({ ...sessionStorage, ...localStorage })')).not.to.include('eyJ');
    expect(problems).to.deep.equal([]);
  });

  it('shows why a sign-in is refused', async () => {
    const { page } = await visit('/graphql');
    await tryToSignIn(page, 'not the password');
    await page.getByRole('dialog').getByText('Invalid user credentials.').waitFor();
  });

  it('refreshes its access token when the service answers TOKEN_EXPIRED', async () => {
    const { page } = await visit('/graphql');
    await signIn(page);
    await document(page, '{\n  tune(limit: 1) { title }\n}', 'title');
    const tokens: (string | undefined)[] = [];
    await page.route('**/graphql', async (route) => {
      if (!route.request().postData()?.includes('tune(')) return route.continue();
      tokens.push(route.request().headers().authorization);
      if (tokens.length > 1) return route.continue();
      return route.fulfill({ status: 401, json: { errors: [{ extensions: { code: 'TOKEN_EXPIRED' } }] } });
    });
    await run(page);
    await answer(page, '"So What"');
    expect(tokens).to.have.length(2);
    for (const token of tokens) expect(token).to.match(/^Bearer eyJ/);
  });

  it('the explorer is not served with GRAPHQL_INTROSPECTION=false', async () => {
    const withoutIntrospection = await startService({ env: { GRAPHQL_INTROSPECTION: 'false' } });
    try {
      for (const path of ['/graphql', '/graphql/system']) {
        const { status, headers } = await withoutIntrospection.request('GET', path, { headers: HTML });
        expect(status, path).to.equal(400);
        expect(headers.get('content-type'), path).to.match(/json/);
      }
    } finally {
      await withoutIntrospection.stop();
    }
  });
});
