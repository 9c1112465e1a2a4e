import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { type MailMessage, mailVariables } from '../../../plugins/mail/contract.ts';
import { watchEventLoop } from '../../support/event-loop.ts';
import { readMailContent } from '../../support/mail-server.ts';
import { captureError } from '../../support/test-plugins.ts';
import { until } from '../../support/until.ts';
import { type RunningMail, startMail } from './start-mail.ts';

const NAMES = ['password-reset', 'user-invitation', 'user-registration', 'notification', 'flow', 'share'];

const HOSTILE = '<script>alert("x")</script>&\'';

describe('mail: templates', function () {
  this.timeout(120_000);
  const project: Record<string, unknown> = {};
  let running: RunningMail;
  before(async () => {
    running = await startMail({
      plugins: [
        {
          name: 'project',
          manifest: { contributes: { 'mail.variables': {} } },
          register: (host) => void host.contribute(mailVariables, { read: async () => project }),
        },
      ],
    });
  });
  after(() => running?.stop());
  beforeEach(() => void Object.assign(project, { projectName: 'Shop', projectColor: '#6644FF', projectLogo: null }));

  /** The HTML and the text of a message, as they arrive. */
  async function render(content: Partial<MailMessage>) {
    const job = await running.ended(await running.mail.send({ to: 'ann@example.com', subject: 'x', ...content }));
    expect(job.errors.map(({ message }) => message)).to.deep.equal([]);
    return readMailContent(running.server.received.at(-1)?.source ?? '');
  }
  const put = (name: string, text: string) => writeFile(join(running.templates, `${name}.liquid`), text);

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
    await rm(join(running.templates, 'base.liquid'));
  });

  it('HTML of a message stands in the base layout, and text alone stays text', async () => {
    const { html, text } = await render({ html: '<h1>Hi</h1><p>there {{ x }}</p>' });
    expect(html).to.include('<h1>Hi</h1><p>there {{ x }}</p>').and.include('<!doctype html>');
    expect(text).to.equal('Hi\n\nthere {{ x }}');
    expect(await render({ text: 'plain' })).to.deep.equal({ text: 'plain' });
    expect((await render({ html: '<p>a</p>', text: 'mine' })).text).to.equal('mine');
  });

  it('HTML of very many tags does not block the service, and its text alternative is cut', async () => {
    const watch = watchEventLoop();
    try {
      for (const part of ['<ul><li>', '<table><tr><td>x', '<h1>x '])
        expect((await render({ html: part.repeat(400_000 / part.length) })).text).to.match(/\[…\]$/);
      expect(watch.longest()).to.be.below(3000);
    } finally {
      watch.stop();
    }
  });

  it('the color and the logo of the project are in the base layout', async () => {
    Object.assign(project, { projectColor: '#00ff00', projectLogo: 'https://shop.example.com/assets/1' });
    const { html } = await render({ html: 'x' });
    expect(html).to.include('#00ff00').and.include('src="https://shop.example.com/assets/1"');
  });

  it('an unknown and an unreadable template are refused at once', async () => {
    await put('large', 'x'.repeat(300_000));
    await mkdir(join(running.templates, 'folder.liquid'));
    const names = ['nothing', 'large', 'folder', '../package', 'a/b', '.hidden'];
    for (const name of names)
      expect(
        await captureError(running.mail.send({ to: 'ann@example.com', subject: 'x', template: { name } })),
        name,
      ).to.include({ code: 'INVALID_PAYLOAD' });
  });

  it('a message waits for its next attempt while its template is broken', async () => {
    await put('broken', '{% if %}');
    const id = await running.mail.send({ to: 'ann@example.com', subject: 'x', template: { name: 'broken' } });
    await until(() => running.queues.jobs.some((job) => job.id === id && job.errors.length > 0));
    await put('broken', 'mended');
    const job = await running.ended(id);
    expect(job.state).to.equal('completed');
    expect(job.errors[0]?.message).to.include('cannot be rendered');
  });
});
