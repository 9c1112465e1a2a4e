import { expect } from 'chai';
import {
  createTestUserAccount,
  createUserSender,
  makeRole,
  type SendAsUser,
  type TestUserAccount,
} from '../plugins/users/test-users.ts';
import { readMailContent, startMailServer, type TestMailServer } from '../support/mail-server.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

describe('mail of notifications', function () {
  this.timeout(120_000);
  let server: TestMailServer;
  let service: InProcessService;
  let admin: SendAsUser;
  let ann: TestUserAccount;
  let email: string;
  before(async () => {
    server = await startMailServer();
    service = await startService({
      env: {
        EMAIL_TRANSPORT: 'smtp',
        EMAIL_SMTP_HOST: '127.0.0.1',
        EMAIL_SMTP_PORT: String(server.port),
        EMAIL_SMTP_IGNORE_TLS: 'true',
        PUBLIC_URL: 'https://shop.example.com',
      },
    });
    admin = createUserSender(service, service.admin.token);
    ann = await createTestUserAccount(service, await makeRole(service, { app_access: true }));
    email = (await admin('GET', `/users/${ann.id}?fields=email`)).body.data.email;
  });
  after(async () => {
    await service?.stop();
    await server?.stop();
  });

  /** The messages that arrive until `count` of them and that of a further notification, which is sent last, have arrived. */
  async function mailsOf(work: () => Promise<unknown>, count = 0) {
    const { length } = server.received;
    await work();
    await admin('POST', '/notifications', { recipient: ann.id, subject: 'The last one' });
    const isLast = ({ source }: { source: string }) => source.includes('Subject: The last one');
    return until(() => {
      const arrived = server.received.slice(length);
      const others = arrived.filter((one) => !isLast(one));
      return arrived.some(isLast) && others.length >= count && others;
    });
  }

  it('a notification is mailed to its recipient, with the look of the project', async () => {
    const form = new FormData();
    form.append('file', new Blob(['<svg xmlns="http://www.w3.org/2000/svg"/>'], { type: 'image/svg+xml' }), 'logo.svg');
    const logo = (await admin('POST', '/files', form)).body.data.id;
    await admin('PATCH', '/settings', { project_name: 'Ann & Co', project_color: '#123456', project_logo: logo });
    const mails = await mailsOf(
      () =>
        admin('POST', '/notifications', {
          recipient: ann.id,
          subject: 'Export\nready',
          message: 'Look <b>here</b>\nnow',
          collection: 'orders',
          item: '7',
        }),
      1,
    );
    expect(mails.map(({ to }) => to)).to.deep.equal([[email]]);
    expect(mails[0]?.source).to.include('Subject: Export ready');
    const { html = '', text } = readMailContent(mails[0]?.source ?? '');
    for (const part of ['Ann &amp; Co', '#123456', 'Look &lt;b&gt;here&lt;/b&gt;', 'orders / 7', `/assets/${logo}`])
      expect(html).to.include(part);
    expect(text).to.include('Look <b>here</b>');

    // A color that is none would end the style that it stands in.
    await admin('PATCH', '/settings', { project_color: 'red;x:url(y)' });
    const [plain] = await mailsOf(() => admin('POST', '/notifications', { recipient: ann.id, subject: 'x' }), 1);
    expect(readMailContent(plain?.source ?? '').html)
      .to.include('#6644FF')
      .and.not.to.include('url(y)');
  });

  it('a comment that mentions a user is mailed', async () => {
    const key = { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } };
    await admin('POST', '/collections', { collection: 'things', schema: {}, meta: {}, fields: [key] });
    await admin('POST', '/items/things', {});
    const { role } = (await admin('GET', `/users/${ann.id}?fields=role`)).body.data;
    await admin('POST', '/permissions', { role, collection: 'things', action: 'read', fields: ['*'], permissions: {} });
    const comment = { collection: 'things', item: '1', comment: `hello @${ann.id}` };
    const mails = await mailsOf(() => admin('POST', '/comments', comment), 1);
    expect(mails.map(({ to }) => to)).to.deep.equal([[email]]);
  });

  it('users without email_notifications, without an address, and suspended ones get no mail', async () => {
    const role = await makeRole(service, { app_access: true });
    const [deaf, nameless, suspended] = [
      await createTestUserAccount(service, role),
      await createTestUserAccount(service, role),
      await createTestUserAccount(service, role),
    ];
    await admin('PATCH', `/users/${deaf.id}`, { email_notifications: false });
    await admin('PATCH', `/users/${nameless.id}`, { email: null });
    await admin('PATCH', `/users/${suspended.id}`, { status: 'suspended' });
    const mails = await mailsOf(async () => {
      for (const { id } of [deaf, nameless, suspended])
        expect((await admin('POST', '/notifications', { recipient: id, subject: 'x' })).status).to.equal(200);
    });
    expect(mails).to.deep.equal([]);
  });

  it('a notification that is not written is not mailed', async () => {
    const mails = await mailsOf(async () => {
      const refused = [
        { recipient: ann.id, subject: 'x', status: 'unknown' },
        { recipient: ann.id, subject: 'x'.repeat(300) },
      ];
      for (const body of refused) expect((await admin('POST', '/notifications', body)).status).to.equal(400);
      const both = [{ recipient: ann.id, subject: 'first of two' }, { recipient: ann.id }];
      expect((await admin('POST', '/notifications', both)).status).to.equal(400);
    });
    expect(mails).to.deep.equal([]);
  });

  it('a notification for an address that no mail can be sent to is written all the same', async () => {
    const other = await createTestUserAccount(service, await makeRole(service, { app_access: true }));
    await service.database.query('update platform_users set email = $1 where id = $2', ['"a b"@example.com', other.id]);
    const mails = await mailsOf(async () => {
      expect((await admin('POST', '/notifications', { recipient: other.id, subject: 'x' })).status).to.equal(200);
    });
    expect(mails).to.deep.equal([]);
  });
});
