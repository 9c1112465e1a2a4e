import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import sharp from 'sharp';
import { PUBLIC_ROLE_ID } from '../../plugins/access/contract.ts';
import { openChromium } from '../browser/chromium.ts';
import type { FreshDatabase } from '../support/database.ts';
import {
  createMigratedDatabase,
  FIRST_ADMIN_CREDENTIALS,
  type InProcessService,
  startService,
} from '../support/service.ts';
import { type AssetStorageFixture, createAssetStorageFixture } from './asset-storage-fixture.ts';
import { requestAsAdmin } from './test-users.ts';

const RAN = "console.log('it ran'); document.documentElement.setAttribute('data-ran', 'yes');";
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="40" height="30" onload="${RAN.replaceAll('"', "'")}">
  <style>rect { fill: rgb(0, 128, 0) }</style><rect width="40" height="30"/>
  <script>${RAN}</script>
  <foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" srcdoc="&lt;script&gt;console.log('it ran')&lt;/script&gt;"></iframe></foreignObject>
</svg>`;
const HTML = `<!doctype html><title>page</title><body onload="${RAN.replaceAll('"', "'")}">
  <style>p { color: rgb(0, 128, 0) }</style><p>words</p>
  <script>${RAN}</script><script src="data:text/javascript,console.log('it ran')"></script>
  <img src="x:" onerror="${RAN.replaceAll('"', "'")}"><iframe srcdoc="<script>console.log('it ran')</script>"></iframe>
  <iframe src="javascript:console.log('it ran')"></iframe><a id="link" href="javascript:console.log('it ran')">go</a>
  <form id="form" action="/elsewhere"><button>send</button></form></body>`;
const XHTML = `<html xmlns="http://www.w3.org/1999/xhtml"><head><script>${RAN}</script></head><body onload="${RAN.replaceAll('"', "'")}"><p>words</p></body></html>`;

describe('assets in a browser', function () {
  // A browser on a busy machine may take long to render a page.
  this.timeout(120_000);

  let ground: AssetStorageFixture;
  let database: FreshDatabase;
  let service: InProcessService;
  let browser: Browser;
  /** A server of another origin than the service. It answers every path with `pageThere`. */
  let foreignServer: Server;
  let foreignUrl: string;
  let pageThere = { html: '', headers: {} as Record<string, string> };
  const contexts: BrowserContext[] = [];
  const ids: Record<string, string> = {};

  before(async () => {
    ground = await createAssetStorageFixture();
    database = await createMigratedDatabase('assets_browser');
    service = await startService({ database, env: { ...ground.env, LOG_LEVEL: 'info' } });
    browser = await openChromium();
    foreignServer = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html', ...pageThere.headers }).end(pageThere.html);
    }).listen(0, '127.0.0.1');
    await once(foreignServer, 'listening');
    foreignUrl = `http://127.0.0.1:${(foreignServer.address() as AddressInfo).port}`;

    const png = await sharp({ create: { width: 40, height: 30, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
    const add = async (name: string, bytes: Buffer | string, type: string | null, more = {}) => {
      ids[name] = await ground.file(database, bytes, { type, filename_download: name, title: 'public', ...more });
    };
    await add('a.png', png, 'image/png');
    await add('private.png', png, 'image/png', { title: 'private' });
    await add('a.svg', SVG, 'image/svg+xml');
    await add('a.html', HTML, 'text/html; charset=utf-8');
    await add('a.xhtml', XHTML, 'application/xhtml+xml');
    await add('a.xml', XHTML, 'text/xml');
    await add('claims-to-be.png', HTML, 'image/png', { detected_type: 'text/html' });
    await add('untyped', HTML, null);
    await add('a.wav', emptyWav(), 'audio/wav');
    await add('a.txt', 'words', 'text/plain');
    await requestAsAdmin(service, 'POST', '/permissions', {
      role: PUBLIC_ROLE_ID,
      collection: 'platform_files',
      action: 'read',
      fields: ['*'],
      permissions: { title: { _eq: 'public' } },
    });
  });
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
  });
  after(async () => {
    await browser?.close();
    foreignServer?.close();
    await service?.stop();
    await database?.drop();
    await ground?.remove();
  });

  const address = (name: string) => `${service.url}/assets/${ids[name]}/${name}`;

  interface Visit {
    readonly context: BrowserContext;
    readonly page: Page;
    readonly consoleTexts: string[];
    /** URLs of all requests that the page has caused. */
    readonly requestedUrls: string[];
  }

  async function visit(options: { withoutPolicy?: boolean } = {}): Promise<Visit> {
    const context = await browser.newContext();
    contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    const consoleTexts: string[] = [];
    const requestedUrls: string[] = [];
    page.on('console', (message) => consoleTexts.push(message.text()));
    page.on('request', (request) => requestedUrls.push(request.url()));
    if (options.withoutPolicy) {
      await context.route('**/assets/**', async (route) => {
        const response = await route.fetch();
        const headers = { ...response.headers() };
        delete headers['content-security-policy'];
        await route.fulfill({ response, headers });
      });
    }
    return { context, page, consoleTexts, requestedUrls };
  }

  for (const name of ['a.svg', 'a.html', 'a.xhtml', 'a.xml']) {
    it(`a browser runs no script of ${name} opened by its URL, but would without the policy`, async () => {
      const free = await visit({ withoutPolicy: true });
      await free.page.goto(address(name));
      await expectSoon(() => free.consoleTexts.includes('it ran'));

      const { page, consoleTexts, requestedUrls } = await visit();
      const response = await page.goto(address(name));
      expect(response?.status()).to.equal(200);
      expect(response?.headers()['content-security-policy']).to.contain('; sandbox');
      await page.waitForLoadState('load');
      if (name === 'a.html') {
        await page.locator('#link').click();
        await page.locator('#form button').click();
        // The page is rendered although its scripts do not run.
        expect(await page.locator('p').textContent()).to.equal('words');
      }
      expect(consoleTexts.filter((text) => text === 'it ran')).to.deep.equal([]);
      expect(
        requestedUrls.filter((url) => url !== address(name) && !/^(data|x|about|javascript):/.test(url)),
      ).to.deep.equal([]);
      expect(page.url()).to.equal(address(name));
    });
  }

  it('a browser does not render a file of another type as a page', async () => {
    for (const name of ['claims-to-be.png', 'untyped']) {
      const { page, consoleTexts } = await visit();
      // The browser shows such a file as its declared type or downloads it, which ends the navigation with an error.
      await page.goto(address(name)).catch((error) => expect(String(error)).to.match(/download|ERR_ABORTED/i));
      expect(consoleTexts.filter((text) => text === 'it ran')).to.deep.equal([]);
    }
  });

  /** The width of an image that is added to the page; 0 if it does not load. */
  const widthIn = (page: Page, src: string, attributes = ''): Promise<number> =>
    page.evaluate<number>(`new Promise((resolve) => {
      const holder = document.createElement('div');
      holder.innerHTML = ${JSON.stringify(`<img ${attributes}>`)};
      const image = holder.firstChild;
      image.onload = () => resolve(image.naturalWidth);
      image.onerror = () => resolve(0);
      image.src = ${JSON.stringify(src)};
      document.body.append(image);
    })`);

  it('pages of any origin show public images, also with COEP require-corp', async () => {
    for (const headers of [{}, { 'cross-origin-embedder-policy': 'require-corp' }] as Record<string, string>[]) {
      pageThere = { html: '<!doctype html><body></body>', headers };
      const { page, consoleTexts } = await visit();
      await page.goto(foreignUrl);
      for (const name of ['a.png', 'a.svg']) expect(await widthIn(page, address(name)), name).to.equal(40);
      expect(consoleTexts.filter((text) => text === 'it ran')).to.deep.equal([]);
    }
  });

  it('a browser shows image, sound and text opened by their URLs', async () => {
    const { page } = await visit();
    await page.goto(address('a.png'));
    expect(await page.evaluate<number>(`document.querySelector('img').naturalWidth`)).to.equal(40);
    await page.goto(address('a.wav'));
    await page.waitForFunction(`document.querySelector('video, audio')?.readyState >= 2`);
    await page.goto(address('a.txt'));
    expect(await page.locator('pre').textContent()).to.equal('words');
  });

  it('only pages of the same origin may frame an asset', async () => {
    const { context, page } = await visit();
    const html = `<!doctype html><iframe src="${address('a.txt')}"></iframe>`;
    await context.route(`${service.url}/own-page`, (route) => route.fulfill({ contentType: 'text/html', body: html }));
    await page.goto(`${service.url}/own-page`);
    expect(await page.frameLocator('iframe').locator('pre').textContent()).to.equal('words');
    pageThere = { html, headers: {} };
    await page.goto(foreignUrl);
    expect(page.frames().map((frame) => frame.url())).to.not.include(address('a.txt'));
  });

  it('a browser sends the session cookie from pages of the same site only', async () => {
    const { context, page } = await visit();
    const body = { email: FIRST_ADMIN_CREDENTIALS.email, password: FIRST_ADMIN_CREDENTIALS.password, mode: 'cookie' };
    const signed = await context.request.post(`${service.url}/auth/login`, { data: body });
    expect(signed.ok()).to.equal(true);
    const page_ = { contentType: 'text/html', body: '<!doctype html><body></body>' };
    await context.route(`${service.url}/own-page`, (route) => route.fulfill(page_));
    await page.goto(`${service.url}/own-page`);
    expect(await widthIn(page, address('private.png'))).to.equal(40);

    pageThere = { html: '<!doctype html><body></body>', headers: {} };
    await page.goto(foreignUrl);
    expect(await widthIn(page, `${address('private.png')}?other`)).to.equal(0);
    expect(await widthIn(page, `${address('private.png')}?more`, 'crossorigin="use-credentials"')).to.equal(0);
    expect(await widthIn(page, address('a.png'))).to.equal(40);

    const foreignVisit = await visit();
    await foreignVisit.page.goto(foreignUrl);
    expect(await widthIn(foreignVisit.page, address('private.png'))).to.equal(0);
  });

  it('a browser caches assets, and revalidates them with ASSETS_CACHE_REVALIDATE', async () => {
    pageThere = { html: '<!doctype html><body></body>', headers: {} };
    const { page } = await visit();
    await page.goto(foreignUrl);
    const path = `/assets/${ids['a.png']}/kept`;
    const answers = () =>
      service.log.filter((line) => line.msg === 'request' && line.path === path).map(({ status }) => status);
    const ask = (cache: string) =>
      page.evaluate(`fetch('${service.url}${path}', { mode: 'no-cors', cache: '${cache}' }).then(() => {})`);
    await ask('default');
    await ask('default');
    expect(answers()).to.deep.equal([200]);
    await ask('no-cache');
    expect(answers()).to.deep.equal([200, 304]);
  });
});

async function expectSoon(done: () => boolean): Promise<void> {
  for (const end = Date.now() + 30_000; !done(); await new Promise((resolve) => setTimeout(resolve, 20)))
    if (Date.now() > end) throw new Error('it did not come to pass in time');
}

/** A WAV file with one second of silence. */
function emptyWav(): Buffer {
  const data = Buffer.alloc(8000, 128);
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + data.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8000, 24);
  head.writeUInt32LE(8000, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write('data', 36);
  head.writeUInt32LE(data.length, 40);
  return Buffer.concat([head, data]);
}
