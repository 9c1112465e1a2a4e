import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createMailContentRenderer } from '../../../plugins/mail/render-message.ts';
import { createTemplateReader } from '../../../plugins/mail/template-files.ts';
import { createVariablesReader } from '../../../plugins/mail/template-variables.ts';
import type { SettingsValues } from '../../../plugins/settings/contract.ts';
import { createProjectMailVariables } from '../../../plugins/settings/mail-variables.ts';
import { createTemplateService } from '../../../plugins/templates/service.ts';
import { buildTemplateWorkerPoolOptions } from '../../../plugins/templates/template-pool-options.ts';
import { captureError } from '../../support/test-plugins.ts';
import { openWorkerPool } from '../../support/worker-pool.ts';

const NAMES = ['password-reset', 'user-invitation', 'user-registration', 'notification', 'flow'];

describe('mail: templates', function () {
  this.timeout(60_000);
  let pool: ReturnType<typeof openWorkerPool>;
  let folder: string;
  before(async () => {
    pool = openWorkerPool(buildTemplateWorkerPoolOptions());
  });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-mail-'));
  });
  afterEach(() => rm(folder, { recursive: true }));
  after(() => pool.stop());

  const SETTINGS = { project_name: 'Shop', project_color: null, project_logo: null } as SettingsValues;
  const rendererWith = (settings = SETTINGS, publicUrl = 'https://shop.example.com/') =>
    createMailContentRenderer({
      templates: createTemplateService(pool),
      readTemplate: createTemplateReader(folder),
      readVariables: createVariablesReader(publicUrl, () => [
        createProjectMailVariables({ current: async () => settings }),
      ]),
    });
  const render = (content: Parameters<ReturnType<typeof rendererWith>>[0]) => rendererWith()(content);
  const put = (name: string, text: string) => writeFile(join(folder, `${name}.liquid`), text);
  const HOSTILE = '<script>alert("x")</script>&\'';

  for (const name of NAMES) {
    it(`the built-in template ${name} escapes all values and stands in the base layout`, async () => {
      const fields = ['url', 'email', 'message', 'collection', 'item', 'body'];
      const data = Object.fromEntries(fields.map((field) => [field, HOSTILE]));
      const { html = '', text } = await render({ subject: HOSTILE, template: { name, data } });
      expect(html)
        .to.match(/^<!doctype html>/)
        .and.include('Shop')
        .and.include('https://shop.example.com');
      expect(html).not.to.include('<script');
      expect(html).to.include('&lt;script&gt;');
      expect(text).to.include('<script>alert').and.not.to.include('&lt;');
    });
  }

  it('values that are data cannot take the place of the variables of the project', async () => {
    const { html } = await render({
      subject: 'x',
      template: {
        name: 'user-invitation',
        data: { projectName: 'Evil', projectUrl: 'https://evil.example', url: 'u' },
      },
    });
    expect(html).to.include('Shop').and.not.to.include('Evil').and.not.to.include('evil.example');
  });

  it('a file of the admin takes the place of a built-in template, also of the base layout, without a restart', async () => {
    const reset = { subject: 'x', template: { name: 'password-reset', data: { url: 'https://a.example/?a=1&b=2' } } };
    await put('password-reset', '<p>Own: <a href="{{ url }}">{{ projectName }}</a></p>');
    const first = await render(reset);
    expect(first.html).to.include('<p>Own: <a href="https://a.example/?a=1&amp;b=2">Shop</a></p>');
    expect(first.text).to.equal('Own: Shop [https://a.example/?a=1&b=2]');
    await put('base', '[{{ html | raw }}]');
    expect((await render(reset)).html).to.equal('[<p>Own: <a href="https://a.example/?a=1&amp;b=2">Shop</a></p>]');
  });

  it('HTML of a message stands in the base layout, and text alone stays text', async () => {
    const { html, text } = await render({ subject: 'x', html: '<h1>Hi</h1><p>there {{ x }}</p>' });
    expect(html).to.include('<h1>Hi</h1><p>there {{ x }}</p>').and.include('<!doctype html>');
    expect(text).to.equal('Hi\n\nthere {{ x }}');
    expect(await render({ subject: 'x', text: 'plain' })).to.deep.equal({ text: 'plain' });
    expect((await render({ subject: 'x', html: '<p>a</p>', text: 'mine' })).text).to.equal('mine');
  });

  it('the color and the logo of the project are in the base layout, and a color that is none is left out', async () => {
    const settings = { ...SETTINGS, project_color: '#00ff00', project_logo: '6c1d0c8e-0d0b-4a39-9a0e-0d5a4f1f8d11' };
    const content = { subject: 'x', html: 'x' };
    const { html } = await rendererWith(settings)(content);
    expect(html).to.include('#00ff00').and.include(`src="https://shop.example.com/assets/${settings.project_logo}"`);
    const bad = await rendererWith({ ...settings, project_color: 'red;background:url(x)' })(content);
    expect(bad.html).to.include('solid #6644FF');
    const relative = await rendererWith(settings, '/')(content);
    expect(relative.html).not.to.include('/assets/').and.not.to.include('href');
  });

  it('an unknown, an unreadable and a broken template are INVALID_PAYLOAD', async () => {
    await put('broken', '{% if %}');
    await put('large', 'x'.repeat(300_000));
    await mkdir(join(folder, 'folder.liquid'));
    for (const name of ['nothing', 'broken', 'large', 'folder', '../package', 'a/b', '.hidden'])
      expect(await captureError(render({ subject: 'x', template: { name } }))).to.include({ code: 'INVALID_PAYLOAD' });
  });
});
