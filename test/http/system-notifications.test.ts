import { expect } from 'chai';
import {
  createTestPermission,
  createTestUserAccount,
  createUserSender,
  errorCodeOf,
  makeRole,
  type SendAsUser,
  statusAndCodeOf,
  type TestUserAccount,
} from '../plugins/users/test-users.ts';
import { type InProcessService, startService } from '../support/service.ts';

const FORBIDDEN = [403, 'FORBIDDEN'];

describe('/notifications', () => {
  let service: InProcessService;
  let admin: SendAsUser;
  let adminId: string;
  let role: string;
  let ann: TestUserAccount;
  let bob: TestUserAccount;
  before(async () => {
    service = await startService();
    admin = createUserSender(service, service.admin.token);
    adminId = (await admin('GET', '/users/me')).body.data.id;
    role = await makeRole(service, { app_access: true });
    [ann, bob] = [await createTestUserAccount(service, role), await createTestUserAccount(service, role)];
  });
  after(() => service?.stop());
  beforeEach(() => service.database.query('truncate platform_notifications restart identity'));

  it('stores sender and time itself, whatever the client sends', async () => {
    const { body } = await admin('POST', '/notifications', {
      recipient: ann.id,
      subject: 'News',
      sender: bob.id,
      timestamp: '2001-01-01T00:00:00Z',
    });
    expect(body.data).to.deep.include({
      id: 1,
      status: 'inbox',
      recipient: ann.id,
      sender: adminId,
      subject: 'News',
      message: null,
      collection: null,
      item: null,
    });
    expect(new Date(body.data.timestamp).getTime()).to.be.closeTo(Date.now(), 60_000);
    const change = { sender: bob.id, timestamp: '2001-01-01T00:00:00Z', subject: 'Old news' };
    expect((await admin('PATCH', '/notifications/1', change)).body.data).to.deep.equal({
      ...body.data,
      subject: 'Old news',
    });
    expect((await admin('DELETE', '/notifications/1')).status).to.equal(204);
    expect((await admin('GET', '/notifications')).body.data).to.deep.equal([]);
  });

  it('rejects invalid notifications', async () => {
    for (const [body, code] of [
      [{ subject: 'x' }, 'FAILED_VALIDATION'],
      [{ recipient: ann.id }, 'FAILED_VALIDATION'],
      [{ recipient: ann.id, subject: 'x', urgent: true }, 'INVALID_PAYLOAD'],
      [{ recipient: ann.id, subject: 'x', status: 'read' }, 'INVALID_PAYLOAD'],
      [{ recipient: '11111111-1111-4111-8111-111111111111', subject: 'x' }, 'INVALID_FOREIGN_KEY'],
      [{ recipient: ann.id, subject: 'x'.repeat(256) }, 'VALUE_TOO_LONG'],
    ] as const) {
      expect(errorCodeOf(await admin('POST', '/notifications', body)), JSON.stringify(body)).to.equal(code);
    }
    expect(await service.database.query('select * from platform_notifications')).to.deep.equal([]);
  });

  it('allows the recipient to read and archive, and to change nothing else', async () => {
    await admin('POST', '/notifications', [
      { recipient: ann.id, subject: 'for Ann' },
      { recipient: bob.id, subject: 'for Bob' },
    ]);
    expect((await ann.ask('GET', '/notifications?fields=subject')).body.data).to.deep.equal([{ subject: 'for Ann' }]);
    expect((await ann.ask('PATCH', '/notifications/1', { status: 'archived' })).body.data.status).to.equal('archived');
    expect(statusAndCodeOf(await ann.ask('PATCH', '/notifications/1', { status: 'lost' }))).to.deep.equal([
      400,
      'INVALID_PAYLOAD',
    ]);
    for (const [method, path, body] of [
      ['PATCH', '/notifications/1', { subject: 'x' }],
      ['PATCH', '/notifications/2', { status: 'archived' }],
      ['GET', '/notifications/2'],
      ['DELETE', '/notifications/1'],
      ['POST', '/notifications', { recipient: bob.id, subject: 'x' }],
    ] as const) {
      expect(statusAndCodeOf(await ann.ask(method, path, body)), `${method} ${path}`).to.deep.equal(FORBIDDEN);
    }
  });

  it('stores the sender without a grant for the field', async () => {
    const writers = await makeRole(service);
    const writer = await createTestUserAccount(service, writers);
    await createTestPermission(service, writers, {
      collection: 'platform_notifications',
      action: 'create',
      fields: ['recipient', 'subject'],
    });
    expect((await writer.ask('POST', '/notifications', { recipient: ann.id, subject: 'x' })).status).to.equal(204);
    expect(
      statusAndCodeOf(await writer.ask('POST', '/notifications', { recipient: ann.id, subject: 'x', sender: ann.id })),
    ).to.deep.equal(FORBIDDEN);
    expect((await admin('GET', '/notifications?fields=sender')).body.data).to.deep.equal([{ sender: writer.id }]);
  });

  it('deletes notifications with their recipient and keeps them without their sender', async () => {
    const senders = await makeRole(service, {}, [{ collection: 'platform_notifications', action: 'create' }]);
    const sender = await createTestUserAccount(service, senders);
    const recipient = await createTestUserAccount(service, senders);
    await sender.ask('POST', '/notifications', { recipient: recipient.id, subject: 'one' });
    await sender.ask('POST', '/notifications', { recipient: ann.id, subject: 'two' });
    expect((await admin('GET', '/notifications')).body.data).to.have.length(2);
    await admin('DELETE', '/users', [sender.id, recipient.id]);
    expect((await admin('GET', '/notifications?fields=subject,sender')).body.data).to.deep.equal([
      { subject: 'two', sender: null },
    ]);
  });

  it('rejects anonymous callers', async () => {
    const anonymous = createUserSender(service, null);
    await admin('POST', '/notifications', { recipient: ann.id, subject: 'x' });
    expect(statusAndCodeOf(await anonymous('GET', '/notifications'))).to.deep.equal(FORBIDDEN);
    expect(
      statusAndCodeOf(await anonymous('POST', '/notifications', { recipient: ann.id, subject: 'x' })),
    ).to.deep.equal(FORBIDDEN);
    // A caller without permission gets FORBIDDEN before its payload is validated.
    expect(statusAndCodeOf(await anonymous('POST', '/notifications', { status: 'lost' }))).to.deep.equal(FORBIDDEN);
    expect(statusAndCodeOf(await anonymous('PATCH', '/notifications/1', { status: 'archived' }))).to.deep.equal(
      FORBIDDEN,
    );
  });
});
