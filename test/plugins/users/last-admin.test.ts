import { expect } from 'chai';
import { type InProcessService, startService } from '../../support/service.ts';
import { createTestUserAccount, createUserSender, makeRole, type SendAsUser, statusAndCodeOf } from './test-users.ts';

const REFUSED = [422, 'UNPROCESSABLE_ENTITY'] as const;

describe('the last admin', () => {
  let service: InProcessService;
  let admin: SendAsUser;
  let me: { id: string; role: string };
  let plain: string;

  beforeEach(async function () {
    this.timeout(120_000);
    service = await startService();
    admin = createUserSender(service, service.admin.token);
    me = (await admin('GET', '/users/me?fields=id,role')).body.data;
    plain = await makeRole(service);
  });
  afterEach(() => service?.stop());

  const actives = async () => {
    const rows = await service.database.query(
      `select 1 from platform_users u join platform_roles r on r.id = u.role where r.admin_access and u.status = 'active'`,
    );
    return rows.length;
  };

  it('cannot be deleted, suspended or demoted by any route', async () => {
    const ways: readonly (readonly [string, string, unknown?])[] = [
      ['DELETE', `/users/${me.id}`],
      ['DELETE', '/users', [me.id]],
      ['DELETE', '/users', { query: { filter: { id: { _eq: me.id } } } }],
      ['PATCH', `/users/${me.id}`, { status: 'suspended' }],
      ['PATCH', `/users/${me.id}`, { role: plain }],
      ['PATCH', `/users/${me.id}`, { role: null }],
      ['PATCH', `/users/${me.id}`, { role: { name: 'New' } }],
      ['PATCH', `/users/${me.id}`, { role: { id: me.role, admin_access: false } }],
      ['PATCH', '/users', [{ id: me.id, status: 'draft' }]],
      ['PATCH', '/users/me', { status: 'archived' }],
      ['DELETE', `/roles/${me.role}`],
      ['PATCH', `/roles/${me.role}`, { admin_access: false }],
      ['PATCH', `/roles/${me.role}`, { admin_access: 0 }],
      ['PATCH', `/roles/${me.role}`, { users: [] }],
      ['PATCH', `/roles/${me.role}`, { users: { delete: [me.id] } }],
      ['PATCH', `/roles/${plain}`, { users: [me.id] }],
      ['PATCH', `/roles/${plain}`, { users: { update: [{ id: me.id }] } }],
      ['POST', '/roles', { name: 'Taker', users: [me.id] }],
    ];
    for (const way of ways) {
      expect(statusAndCodeOf(await admin(...way)), JSON.stringify(way)).to.deep.equal(REFUSED);
      expect(await actives(), JSON.stringify(way)).to.equal(1);
    }
    expect((await admin('GET', `/users/${me.id}`)).body.data).to.include({ status: 'active', role: me.role });
  });

  it('can be deleted once there is another admin', async () => {
    await createTestUserAccount(service, me.role);
    expect((await admin('PATCH', `/users/${me.id}`, { status: 'suspended' })).status).to.be.oneOf([200, 204]);
    expect(await actives()).to.equal(1);
  });

  it('remains when one request deletes all admins', async () => {
    const other = await createTestUserAccount(service, me.role);
    const both = [
      { id: me.id, status: 'suspended' },
      { id: other.id, status: 'suspended' },
    ];
    expect(statusAndCodeOf(await admin('PATCH', '/users', both))).to.deep.equal(REFUSED);
    expect(statusAndCodeOf(await admin('DELETE', '/users', [me.id, other.id]))).to.deep.equal(REFUSED);
    expect(await actives()).to.equal(2);
  });

  it('does not include admins that are not active', async () => {
    await createTestUserAccount(service, me.role, { status: 'suspended' });
    expect(statusAndCodeOf(await admin('DELETE', `/users/${me.id}`))).to.deep.equal(REFUSED);
  });

  it('remains when two requests delete the last two at the same moment', async function () {
    this.timeout(120_000);
    const other = await createTestUserAccount(service, me.role);
    for (const [body, restore] of [
      [{ status: 'suspended' }, `update platform_users set status = 'active'`],
      [{ role: plain }, `update platform_users set role = '${me.role}'`],
    ] as const) {
      const both = await Promise.all([
        other.ask('PATCH', `/users/${me.id}`, body),
        admin('PATCH', `/users/${other.id}`, body),
      ]);
      expect(
        both
          .map(({ status }) => status)
          .sort()
          .at(-1),
        JSON.stringify(both.map(statusAndCodeOf)),
      ).to.be.oneOf([401, 403, 422]);
      expect(await actives()).to.equal(1);
      await service.database.query(`${restore} where id = any($1)`, [[me.id, other.id]]);
    }
  });

  it('does not keep other admin roles from being deleted', async () => {
    const second = await makeRole(service, { admin_access: true });
    expect((await admin('PATCH', `/roles/${second}`, { admin_access: false })).status).to.equal(200);
    const third = await makeRole(service, { admin_access: true });
    expect((await admin('DELETE', `/roles/${third}`)).status).to.equal(204);
  });
});
