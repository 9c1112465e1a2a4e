import { expect } from 'chai';
import { PUBLIC_ROLE_ID } from '../../../plugins/access/contract.ts';
import { type InProcessService, startService } from '../../support/service.ts';
import {
  createTestPermission,
  createTestUserAccount,
  createUserSender,
  errorCodeOf,
  makeRole,
  type SendAsUser,
  statusAndCodeOf,
} from './test-users.ts';

describe('roles', () => {
  let service: InProcessService;
  let admin: SendAsUser;

  before(async function () {
    this.timeout(120_000);
    service = await startService();
    admin = createUserSender(service, service.admin.token);
  });
  after(() => service?.stop());

  const keyOf = async (name: string, more = {}) => (await admin('POST', '/roles', { name, ...more })).body.data?.key;

  it('POST /roles derives the key from the name', async () => {
    expect(await keyOf('News Desk')).to.equal('news_desk');
    expect(await keyOf('News -- desk!')).to.equal('news_desk_2');
    expect(await keyOf('7 samurai')).to.equal('role_7_samurai');
    expect(await keyOf('Public')).to.equal('public_2');
    expect(await keyOf('名')).to.equal('role');
    expect(await keyOf('Named', { key: 'by_hand' })).to.equal('by_hand');
  });

  it('PATCH /roles rejects another key', async () => {
    for (const key of ['public', 'Upper', '1st', 'a-b', '', 5]) {
      expect(statusAndCodeOf(await admin('POST', '/roles', { name: 'x', key })), String(key)).to.deep.equal([
        400,
        'INVALID_PAYLOAD',
      ]);
    }
    const { id, key } = (await admin('POST', '/roles', { name: 'Kept' })).body.data;
    expect(statusAndCodeOf(await admin('PATCH', `/roles/${id}`, { key: 'other' }))).to.deep.equal([
      400,
      'INVALID_PAYLOAD',
    ]);
    expect((await admin('PATCH', `/roles/${id}`, { key, name: 'Renamed' })).body.data).to.include({
      key,
      name: 'Renamed',
    });
  });

  it('concurrent creates of one name get different keys', async () => {
    const keys = await Promise.all([1, 2, 3, 4].map(() => keyOf('Twin')));
    expect(keys.sort()).to.deep.equal(['twin', 'twin_2', 'twin_3', 'twin_4']);
  });

  it('DELETE /roles deletes the permissions and suspends the users', async () => {
    const role = await makeRole(service);
    await createTestPermission(service, role, { collection: 'platform_roles', action: 'read' });
    const { id, ask } = await createTestUserAccount(service, role);
    expect((await ask('GET', '/roles')).status).to.equal(200);
    expect((await admin('DELETE', `/roles/${role}`)).status).to.equal(204);
    expect((await admin('GET', `/users/${id}`)).body.data).to.include({ role: null, status: 'suspended' });
    expect(await service.database.query('select 1 from platform_permissions where role = $1', [role])).to.deep.equal(
      [],
    );
    expect(statusAndCodeOf(await ask('GET', '/roles'))).to.deep.equal([401, 'USER_SUSPENDED']);
  });

  describe('the Public role', () => {
    it('cannot be deleted and accepts neither users nor flags', async () => {
      expect(statusAndCodeOf(await admin('DELETE', `/roles/${PUBLIC_ROLE_ID}`))).to.deep.equal([
        400,
        'INVALID_PAYLOAD',
      ]);
      const [someone] = (await admin('GET', '/users?fields=id&limit=1')).body.data;
      const changes = [
        { admin_access: true },
        { app_access: true },
        { enforce_tfa: true },
        { ip_access: ['1.2.3.4'] },
        { users: [someone.id] },
      ];
      for (const change of changes) {
        expect(
          statusAndCodeOf(await admin('PATCH', `/roles/${PUBLIC_ROLE_ID}`, change)),
          JSON.stringify(change),
        ).to.deep.equal([400, 'INVALID_PAYLOAD']);
      }
      expect(
        (await admin('PATCH', `/roles/${PUBLIC_ROLE_ID}`, { name: 'Everybody', icon: 'x', description: 'y' })).status,
      ).to.equal(200);
    });

    it('is named by null or its id, in payloads and in filters of permissions', async () => {
      const id = await createTestPermission(service, null, { collection: 'nothing', action: 'read' });
      const nulls = (await admin('GET', '/permissions?filter[role][_null]=true&fields=id')).body.data;
      expect(nulls).to.deep.equal([{ id }]);
      const search = await admin('SEARCH', '/permissions', {
        query: { filter: { role: { _nnull: true } }, fields: ['id'] },
      });
      expect(search.body.data.filter((row: { id?: number }) => row.id === id)).to.deep.equal([]);
    });
  });

  it('ip_access accepts addresses and ranges and rejects anything else, on every write path', async () => {
    const role = await makeRole(service);
    const unreadable: readonly unknown[] = [
      '10.0.0.0/33',
      '10.0.0',
      'localhost',
      '10.0.0.9-10.0.0.1',
      '1.1.1.1-::1',
      '::1]:80/[',
      '10.0.0.1/8/8',
      7,
    ];
    for (const [at, entry] of unreadable.entries()) {
      const ip_access = ['192.0.2.1', entry];
      const text = JSON.stringify(ip_access);
      for (const reply of [
        await admin('POST', '/roles', { name: 'x', ip_access }),
        await admin('PATCH', `/roles/${role}`, { ip_access }),
        await admin('PATCH', '/roles', [{ id: role, ip_access }]),
        await admin(
          'PATCH',
          `/permissions/${await createTestPermission(service, role, { collection: `bound${at}`, action: 'read' })}`,
          { role: { id: role, ip_access } },
        ),
      ]) {
        expect([text, ...statusAndCodeOf(reply)]).to.deep.equal([text, 400, 'INVALID_PAYLOAD']);
        expect(reply.body.errors[0].extensions.path.slice(-2)).to.deep.equal(['ip_access', 1]);
      }
    }
    const asText = await admin('PATCH', `/roles/${role}`, { ip_access: '192.0.2.1,nonsense' });
    expect([...statusAndCodeOf(asText), asText.body.errors[0].extensions.path]).to.deep.equal([
      400,
      'INVALID_PAYLOAD',
      ['ip_access'],
    ]);
    const bound = { ip_access: ['10.0.0.0/8', '2001:db8::/32', '192.0.2.1-192.0.2.9', '::ffff:198.51.100.1'] };
    expect((await admin('PATCH', `/roles/${role}`, bound)).body.data).to.deep.include(bound);
  });

  it('POST and PATCH /permissions reject unknown actions and malformed rules', async () => {
    const role = await makeRole(service);
    const row = { role, collection: 'x', action: 'read' };
    for (const change of [
      { action: 'peek' },
      { permissions: 'all' },
      { permissions: [] },
      { validation: 1 },
      { presets: [1] },
      { fields: [1] },
      { fields: ['a,b'] },
    ]) {
      expect(
        statusAndCodeOf(await admin('POST', '/permissions', { ...row, ...change })),
        JSON.stringify(change),
      ).to.deep.equal([400, 'INVALID_PAYLOAD']);
    }
    expect(errorCodeOf(await admin('POST', '/permissions', { role }))).to.equal('FAILED_VALIDATION');
  });

  it('GET /permissions answers all rows whatever the paging, and still rejects a wrong limit', async () => {
    const { body } = await admin('GET', '/permissions?limit=1&page=2&meta=*');
    expect(body.data.length).to.be.greaterThan(20);
    expect(body.meta.total_count).to.be.a('number');
    expect(statusAndCodeOf(await admin('GET', '/permissions?limit=-2'))).to.deep.equal([400, 'INVALID_QUERY']);
  });
});
