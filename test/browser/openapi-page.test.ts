import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { type FreshDatabase, freshDatabase, runSqlFile } from '../support/database.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { openChromium } from './chromium.ts';

/** The accessibility checker, which runs inside of the page. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PATH = '/server/specs/oas/page';

describe('the page of the OpenAPI document in a browser', function () {
  // On a busy machine pages take long to render.
  this.timeout(180_000);

  let database: FreshDatabase;
  let service: InProcessService;
  let browser: Browser;
  const problems: string[] = [];

  before(async () => {
    database = await freshDatabase('openapi_page');
    await runSqlFile(database.url, new URL('../data/chinook.sql', import.meta.url));
    service = await startService({ database });
    browser = await openChromium();
  });
  after(async () => {
    await browser?.close();
    await service?.stop();
    await database?.drop();
  });

  /** Opens the page and collects what the browser refuses, or requests of other hosts. */
  async function open(width: number, colorScheme: 'light' | 'dark'): Promise<Page> {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, bypassCSP: false });
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(service.url) && !url.startsWith('data:')) problems.push(`a request to ${url}`);
    });
    await page.goto(service.url + PATH);
    await page.waitForSelector('.opblock');
    return page;
  }

  const enterToken = async (page: Page) => {
    await page.fill('#token', service.admin.token);
    await page.click('#token-form button');
    await page.waitForSelector('nav >> text="track"');
  };

  for (const width of [1280, 390]) {
    for (const scheme of ['light', 'dark'] as const) {
      it(`shows, finds and describes operations ${width} pixels wide, ${scheme}, within its content security policy`, async () => {
        const page = await open(width, scheme);
        expect(await page.locator('nav >> text="track"').count()).to.equal(0);
        await enterToken(page);
        await page.fill('#search', 'items/track get');
        await page.click('#tags a >> nth=0');
        await page.click('[data-path="/items/track"]');
        await page.waitForSelector('.parameters');
        expect(await page.textContent('#document')).to.include('The fields of the answer');
        const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
        expect(overflow).to.be.at.most(0);
        const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor');
        expect(ground).to.equal(scheme === 'dark' ? 'rgb(28, 32, 34)' : 'rgb(255, 255, 255)');
        expect(problems).to.deep.equal([]);
        await page.context().close();
      });
    }
  }

  it('sends the token with a request that is tried', async () => {
    const page = await open(1280, 'light');
    await enterToken(page);
    await page.goto(`${service.url}${PATH}#ItemsGenre`);
    await enterToken(page);
    await page.click('[data-path="/items/genre"]');
    await page.click('text="Try it out"');
    const answered = page.waitForResponse((response) => response.url().includes('/items/genre'));
    await page.click('.execute');
    expect((await answered).status()).to.equal(200);
    expect(problems).to.deep.equal([]);
    await page.context().close();
  });

  it('has labels and enough contrast in its own frame', async () => {
    for (const scheme of ['light', 'dark'] as const) {
      const page = await open(1280, scheme);
      // The content security policy of the page allows no other script.
      const violations = await page.evaluate(
        `(() => { ${AXE}; return axe.run({ include: ['header', 'nav'] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html)); })()`,
      );
      expect(violations).to.deep.equal([]);
      await page.context().close();
    }
  });
});

describe(`GET ${PATH}`, () => {
  let service: InProcessService;
  before(async () => {
    service = await startService();
  });
  after(() => service?.stop());

  it('has a content security policy without inline scripts and styles, and files that may be kept for ever', async () => {
    const { status, headers, body } = await service.request('GET', PATH);
    expect(status).to.equal(200);
    const policy = headers.get('content-security-policy') as string;
    expect(policy).to.include("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).not.to.include('unsafe');
    const files = [...body.matchAll(/(?:href|src)="\.\/page\/([^"]+)"/g)].map(([, name]) => name as string);
    expect(files).to.have.length(5);
    for (const name of files) {
      const file = await service.request('GET', `${PATH}/${name}`);
      expect(file.status).to.equal(200);
      expect(file.headers.get('cache-control')).to.include('immutable');
    }
    const plain = await fetch(`${service.url}${PATH}/${files[0]}`, { headers: { 'accept-encoding': 'identity' } });
    expect((await plain.text()).length).to.be.above(1000);
    expect((await service.request('GET', `${PATH}/package.json`)).status).to.equal(404);
  });

  it('finds its files at the path with a slash as well', async () => {
    const { body } = await service.request('GET', `${PATH}/`);
    expect(body).to.include('href="./viewer-').and.to.include('data-document="./../../oas"');
  });
});
