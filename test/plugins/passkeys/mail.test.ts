import { expect } from 'chai';
import { readMailContent, startMailServer, type TestMailServer } from '../../support/mail-server.ts';
import { type InProcessService, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { createSignedInUser, PASSKEY_SETTINGS, registerPasskey } from './passkey-fixture.ts';

describe('mails about passkeys', function () {
  this.timeout(120_000);
  let server: TestMailServer;
  let service: InProcessService;
  before(async () => {
    server = await startMailServer();
    service = await startService({
      env: {
        ...PASSKEY_SETTINGS,
        EMAIL_TRANSPORT: 'smtp',
        EMAIL_SMTP_HOST: '127.0.0.1',
        EMAIL_SMTP_PORT: String(server.port),
        EMAIL_SMTP_IGNORE_TLS: 'true',
      },
    });
  });
  after(async () => {
    await service?.stop();
    await server?.stop();
  });

  const mailTo = (email: string, subject: string) =>
    until(() => server.received.find(({ to, source }) => to.includes(email) && source.includes(`Subject: ${subject}`)));

  it('tell the user of each passkey that is added, and of each that an admin removes, also without email_notifications', async () => {
    const { request, admin } = service;
    const user = await createSignedInUser(service, { email_notifications: false });
    const { key, id } = await registerPasskey(request, user, { name: 'Phone <b>' });
    const added = await mailTo(user.email, 'A passkey was added');
    expect(readMailContent(added.source).html).to.contain('Phone &lt;b&gt;').and.to.contain('change your password');
    expect(added.source).not.to.contain(id);
    await request('DELETE', `/users/${user.id}/passkeys/${key}`, { token: admin.token });
    await mailTo(user.email, 'A passkey was removed');
  });

  it('are left out for a user without an address, who registers all the same', async () => {
    const user = await createSignedInUser(service);
    await service.database.query('update platform_users set email = null where id = $1', [user.id]);
    await registerPasskey(service.request, user);
    await service.database.query("update platform_users set email = 'no address' where id = $1", [user.id]);
    await registerPasskey(service.request, user);
  });
});
