import { expect } from 'chai';
import { readMailContent, startMailServer, type TestMailServer } from '../support/mail-server.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import {
  type ConfinedPackageFolder,
  createConfinedPackageFolder,
  listExtensions,
  renderConfinedEndpoint,
} from './confined-packages.ts';

const SEND = `async ({ body }, { host }) => ({ body: await host.mail.send(body) })`;
const MESSAGE = { to: 'ann@example.com', subject: 'Hello', html: '<p>Hello</p>' };

describe('host.mail of confined packages', function () {
  this.timeout(120_000);
  let packages: ConfinedPackageFolder;
  let server: TestMailServer;
  let service: InProcessService;

  before(async () => {
    server = await startMailServer();
    packages = await createConfinedPackageFolder();
    const endpoint = { access: 'public' };
    const put = (id: string, capabilities: object, code = SEND) =>
      packages.put(
        `service-extension-${id}`,
        { type: 'endpoint', capabilities: { endpoint, ...capabilities } },
        renderConfinedEndpoint(id, code),
      );
    await put('sender', { mail: { domains: ['example.com'], perHour: 2 } });
    await put('other', {});
    await put('wrong', { mail: { domains: ['*.example.com'], perHour: 2 } });
    await packages.put(
      'service-extension-footer',
      { type: 'hook', events: { filter: ['email.send'] }, capabilities: {} },
      `export default { id: 'footer', filters: { 'email.send': (message) =>
        ({ ...message, html: message.html + '<p>Sent by a package</p>' }) } };`,
    );
    service = await startService({
      env: {
        EXTENSIONS_PATH: packages.path,
        EMAIL_TRANSPORT: 'smtp',
        EMAIL_SMTP_HOST: '127.0.0.1',
        EMAIL_SMTP_PORT: String(server.port),
        EMAIL_SMTP_IGNORE_TLS: 'true',
      },
    });
  });
  after(async () => {
    await service?.stop();
    await packages?.remove();
    await server?.stop();
  });

  const send = async (id: string, change: object = {}) =>
    (await service.request('POST', `/${id}`, { body: { ...MESSAGE, ...change } })).body;

  it('a package sends mail within its grant, which a hook of another package changes', async () => {
    const answer = await send('sender');
    expect(answer.ok).to.equal(true);
    expect(answer.value).to.match(/^[0-9a-f-]{36}$/);
    const mail = await until(() => server.received[0]);
    expect(mail.to).to.deep.equal(['ann@example.com']);
    expect(readMailContent(mail.source).html).to.include('<p>Hello</p><p>Sent by a package</p>');

    for (const [change, code] of [
      [{ to: 'eve@other.example' }, 'denied'],
      [{ subject: 'a\nBcc: eve@example.com' }, 'invalid_request'],
      [{ bcc: 'eve@example.com' }, 'invalid_request'],
      [{ to: ['a@example.com', 'b@example.com'] }, 'rate_limited'],
    ] as const)
      expect((await send('sender', change)).error?.code, JSON.stringify(change)).to.equal(code);
    expect(server.received.length).to.equal(1);
  });

  it('a package without the grant is denied, and one with an invalid grant is not loaded', async () => {
    expect((await send('other')).error.code).to.equal('denied');
    const rows = await listExtensions(service);
    expect(rows['service-extension-wrong']?.reason?.detail).to.include('capabilities.mail.domains.0 must be a domain');
  });
});
