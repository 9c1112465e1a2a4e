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

describe('/presets', () => {
  let service: InProcessService;
  let admin: SendAsUser;
  let role: string;
  let ann: TestUserAccount;
  let bob: TestUserAccount;
  before(async () => {
    service = await startService();
    admin = createUserSender(service, service.admin.token);
    role = await makeRole(service, { app_access: true });
    [ann, bob] = [await createTestUserAccount(service, role), await createTestUserAccount(service, role)];
  });
  after(() => service?.stop());
  beforeEach(() => service.database.query('truncate platform_presets restart identity'));

  it('creates presets with their defaults, reads, changes and deletes them', async () => {
    const { body } = await admin('POST', '/presets', {
      collection: 'articles',
      layout_query: { tabular: { page: 1 } },
    });
    expect(body.data).to.deep.equal({
      id: 1,
      bookmark: null,
      user: null,
      role: null,
      collection: 'articles',
      search: null,
      layout: 'tabular',
      layout_query: { tabular: { page: 1 } },
      layout_options: null,
      refresh_interval: null,
      filter: null,
      icon: 'bookmark',
      color: null,
    });
    const change = { bookmark: 'Mine', filter: { _and: [{ a: { _eq: 1 } }] }, refresh_interval: 30 };
    expect((await admin('PATCH', '/presets/1', change)).body.data).to.deep.include(change);
    expect((await admin('GET', '/presets?filter[bookmark][_eq]=Mine&fields=id')).body.data).to.deep.equal([{ id: 1 }]);
    expect((await admin('DELETE', '/presets/1')).status).to.equal(204);
    expect(statusAndCodeOf(await admin('GET', '/presets/1'))).to.deep.equal(FORBIDDEN);
  });

  it('rejects invalid presets', async () => {
    expect(errorCodeOf(await admin('POST', '/presets', { view: 'x' }))).to.equal('INVALID_PAYLOAD');
    expect(errorCodeOf(await admin('POST', '/presets', { refresh_interval: 'soon' }))).to.equal('INVALID_PAYLOAD');
    expect(errorCodeOf(await admin('POST', '/presets', { search: 'x'.repeat(101) }))).to.equal('VALUE_TOO_LONG');
    const user = '11111111-1111-4111-8111-111111111111';
    expect(errorCodeOf(await admin('POST', '/presets', { user }))).to.equal('INVALID_FOREIGN_KEY');
  });

  it('allows app users presets of their own only', async () => {
    const created = await ann.ask('POST', '/presets', { collection: 'articles' });
    expect(created.body.data).to.include({ user: ann.id, role: null });
    const id = created.body.data.id as number;
    expect((await ann.ask('PATCH', `/presets/${id}`, { bookmark: 'b' })).body.data.bookmark).to.equal('b');
    expect((await ann.ask('PATCH', `/presets/${id}`, { user: ann.id })).status).to.equal(200);
    for (const user of [bob.id, null, { id: bob.id }, 5]) {
      const where = JSON.stringify(user);
      expect(statusAndCodeOf(await ann.ask('POST', '/presets', { collection: 'x', user })), where).to.deep.equal(
        FORBIDDEN,
      );
      expect(statusAndCodeOf(await ann.ask('PATCH', `/presets/${id}`, { user })), where).to.deep.equal(FORBIDDEN);
    }
    for (const [method, path, body] of [
      ['GET', `/presets/${id}`],
      ['PATCH', `/presets/${id}`, { bookmark: 'x' }],
      ['DELETE', `/presets/${id}`],
    ] as const) {
      expect(statusAndCodeOf(await bob.ask(method, path, body)), method).to.deep.equal(FORBIDDEN);
    }
    expect((await ann.ask('DELETE', `/presets/${id}`)).status).to.equal(204);
    expect(await service.database.query('select * from platform_presets')).to.deep.equal([]);
  });

  it('answers presets to the users and roles that they are for', async () => {
    const other = await makeRole(service);
    await admin('POST', '/presets', [
      { bookmark: 'of ann', user: ann.id },
      { bookmark: 'of bob', user: bob.id },
      { bookmark: 'of the role', role },
      { bookmark: 'of another role', role: other },
      { bookmark: 'of all' },
    ]);
    const { body } = await ann.ask('GET', '/presets?fields=bookmark&sort=id');
    expect(body.data.map((one: { bookmark: string }) => one.bookmark)).to.deep.equal([
      'of ann',
      'of the role',
      'of all',
    ]);
    expect(statusAndCodeOf(await ann.ask('PATCH', '/presets/3', { bookmark: 'taken' }))).to.deep.equal(FORBIDDEN);
    expect(statusAndCodeOf(await ann.ask('DELETE', '/presets/5'))).to.deep.equal(FORBIDDEN);
  });

  it('requires a stored permission for presets of a role or of all users', async () => {
    const editors = await makeRole(service, { app_access: true });
    const { ask, id } = await createTestUserAccount(service, editors);
    const forAll = { collection: 'x', user: null };
    expect(statusAndCodeOf(await ask('POST', '/presets', forAll))).to.deep.equal(FORBIDDEN);
    await createTestPermission(service, editors, { collection: 'platform_presets', action: 'create' });
    expect((await ask('POST', '/presets', forAll)).body.data).to.include({ user: null, role: null });
    expect((await ask('POST', '/presets', { ...forAll, role: editors })).body.data.role).to.equal(editors);
    expect((await ask('POST', '/presets', { collection: 'x' })).body.data.user).to.equal(id);
  });

  it('deletes presets with their user and with their role', async () => {
    const leaving = await makeRole(service);
    const { id } = await createTestUserAccount(service, leaving);
    await admin('POST', '/presets', [{ user: id }, { role: leaving }, { bookmark: 'stays' }]);
    expect((await admin('DELETE', `/users/${id}`)).status).to.equal(204);
    expect((await admin('GET', '/presets?fields=id')).body.data).to.deep.equal([{ id: 2 }, { id: 3 }]);
    expect((await admin('DELETE', `/roles/${leaving}`)).status).to.equal(204);
    expect((await admin('GET', '/presets?fields=id')).body.data).to.deep.equal([{ id: 3 }]);
  });

  it('deletes the presets of a deleted collection', async () => {
    const fields = [{ field: 'a', type: 'string' }];
    await admin('POST', '/collections', { collection: 'short_lived', schema: {}, fields });
    await admin('POST', '/presets', [{ collection: 'short_lived' }, { collection: 'platform_users' }]);
    expect((await admin('DELETE', '/collections/short_lived')).status).to.equal(204);
    expect((await admin('GET', '/presets?fields=collection')).body.data).to.deep.equal([
      { collection: 'platform_users' },
    ]);
  });

  it('rejects anonymous callers', async () => {
    const anonymous = createUserSender(service, null);
    await admin('POST', '/presets', { bookmark: 'of all' });
    expect(statusAndCodeOf(await anonymous('GET', '/presets'))).to.deep.equal(FORBIDDEN);
    for (const body of [{ collection: 'x' }, { user: ann.id }, { user: null }]) {
      expect(statusAndCodeOf(await anonymous('POST', '/presets', body))).to.deep.equal(FORBIDDEN);
    }
    expect(statusAndCodeOf(await anonymous('DELETE', '/presets/1'))).to.deep.equal(FORBIDDEN);
  });
});
