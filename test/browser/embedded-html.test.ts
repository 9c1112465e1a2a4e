import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { createPackageFolder, createPackageJson, type PackageFolder } from '../plugins/extensions/package-folder.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { openChromium } from './chromium.ts';

const HOOK = `export default ({ embed }) => {
  embed('head', '<meta name="from-hook" content="yes"><style>h1 { letter-spacing: 7px }</style>');
  embed('body', () => '<p id="added">Added</p><script>document.getElementById("added").textContent = "Changed"</script>');
};`;

describe('HTML that hooks embed', function () {
  this.timeout(180_000);
  let place: PackageFolder;
  let service: InProcessService;
  let browser: Browser;

  before(async () => {
    const manifest = { type: 'hook', path: 'dist/index.js', source: 'src/index.js', host: '^1.0.0' };
    place = await createPackageFolder({
      'service-extension-embedded/package.json': createPackageJson('service-extension-embedded', manifest),
      'service-extension-embedded/dist/index.js': HOOK,
      'service-extension-embedded/src/index.js': HOOK,
    });
    service = await startService({ env: { EXTENSIONS_PATH: place.path } });
    browser = await openChromium();
  });
  after(async () => {
    await browser?.close();
    await service?.stop();
    await place?.remove();
  });

  it('is part of the sign-in page, with its styles and scripts and no others', async () => {
    const page = await browser.newPage();
    const blocked: string[] = [];
    page.on('console', (message) => void (message.type() === 'error' && blocked.push(message.text())));
    await page.goto(`${service.url}/admin/login`);
    expect(await page.getAttribute('meta[name="from-hook"]', 'content')).to.equal('yes');
    expect(await page.textContent('#added')).to.equal('Changed');
    expect(await page.evaluate('getComputedStyle(document.querySelector("h1")).letterSpacing')).to.equal('7px');
    expect(blocked).to.deep.equal([]);
    await page.evaluate(
      'const script = document.createElement("script"); script.textContent = `document.title = "taken over"`; document.body.append(script)',
    );
    expect(await page.title()).not.to.equal('taken over');
  });

  it('loosens the policy of pages by hashes only', async () => {
    const { headers } = await service.request('GET', '/admin/login');
    expect(headers.get('content-security-policy'))
      .to.match(/script-src (?:'self' )?'sha256-/)
      .and.not.include('unsafe');
  });
});
