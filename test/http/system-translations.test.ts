import { expect } from 'chai';
import {
  createTestUserAccount,
  createUserSender,
  errorCodeOf,
  makeRole,
  type SendAsUser,
  statusAndCodeOf,
} from '../plugins/users/test-users.ts';
import { type InProcessService, startService } from '../support/service.ts';

const FORBIDDEN = [403, 'FORBIDDEN'];

describe('/translations', () => {
  let service: InProcessService;
  let admin: SendAsUser;
  before(async () => {
    service = await startService();
    admin = createUserSender(service, service.admin.token);
  });
  after(() => service?.stop());
  beforeEach(() => service.database.query('truncate platform_translations'));

  const text = { key: 'greeting', language: 'en-US', value: 'Hello' };

  it('creates, reads, changes and deletes translations', async () => {
    const created = await admin('POST', '/translations', text);
    const { id } = created.body.data;
    expect(created.body.data).to.deep.equal({ id, ...text });
    expect((await admin('PATCH', `/translations/${id}`, { value: 'Hi' })).body.data.value).to.equal('Hi');
    await admin('POST', '/translations', [{ ...text, language: 'de-DE', value: 'Hallo' }]);
    expect(
      (await admin('GET', '/translations?filter[key]=greeting&sort=language&fields=value')).body.data,
    ).to.deep.equal([{ value: 'Hallo' }, { value: 'Hi' }]);
    expect(
      (await admin('DELETE', '/translations', { query: { filter: { language: { _eq: 'de-DE' } } } })).status,
    ).to.equal(204);
    expect((await admin('GET', '/translations?fields=id')).body.data).to.deep.equal([{ id }]);
  });

  it('rejects a second value for a key in a language', async () => {
    const { id } = (await admin('POST', '/translations', text)).body.data;
    expect(statusAndCodeOf(await admin('POST', '/translations', text))).to.deep.equal([400, 'RECORD_NOT_UNIQUE']);
    const other = (await admin('POST', '/translations', { ...text, language: 'fr-FR' })).body.data.id;
    expect(statusAndCodeOf(await admin('PATCH', `/translations/${other}`, { language: 'en-US' }))).to.deep.equal([
      400,
      'RECORD_NOT_UNIQUE',
    ]);
    expect((await admin('GET', `/translations/${id}`)).body.data.value).to.equal('Hello');
  });

  it('rejects invalid translations', async () => {
    for (const missing of ['key', 'language', 'value']) {
      const { [missing]: _left, ...rest } = text as Record<string, string>;
      const reply = await admin('POST', '/translations', rest);
      expect(errorCodeOf(reply)).to.equal('FAILED_VALIDATION');
      expect(reply.body.errors[0].extensions).to.include({ field: missing, type: 'required' });
    }
    expect(errorCodeOf(await admin('POST', '/translations', { ...text, plural: 'x' }))).to.equal('INVALID_PAYLOAD');
  });

  it('allows app users to read, and no caller without a permission', async () => {
    const { id } = (await admin('POST', '/translations', text)).body.data;
    const app = await createTestUserAccount(service, await makeRole(service, { app_access: true }));
    expect((await app.ask('GET', '/translations')).body.data).to.deep.equal([{ id, ...text }]);
    expect(statusAndCodeOf(await app.ask('POST', '/translations', { ...text, key: 'x' }))).to.deep.equal(FORBIDDEN);
    expect(statusAndCodeOf(await app.ask('PATCH', `/translations/${id}`, { value: 'x' }))).to.deep.equal(FORBIDDEN);
    expect(statusAndCodeOf(await app.ask('DELETE', `/translations/${id}`))).to.deep.equal(FORBIDDEN);
    expect(statusAndCodeOf(await createUserSender(service, null)('GET', '/translations'))).to.deep.equal(FORBIDDEN);
    expect(statusAndCodeOf(await createUserSender(service, null)('POST', '/translations', text))).to.deep.equal(
      FORBIDDEN,
    );
  });
});
