import { expect } from 'chai';
import { PUBLIC_ROLE_ID } from '../../../plugins/access/contract.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import {
  createTestPermission,
  createTestUserAccount,
  createUserSender,
  makeRole,
  type SendAsUser,
  statusAndCodeOf,
} from '../users/test-users.ts';

const TABLES = `
  create table place (id serial primary key, name text not null, note text, secret text);
  create table visit (id serial primary key, place integer not null references place, guest uuid, rating integer, at timestamptz);
  insert into place (name, note, secret) values ('North', 'cold', 's1'), ('South', 'warm', 's2');
`;

describe('permissions', () => {
  let service: InProcessService;
  let admin: SendAsUser;
  const publicCaller: SendAsUser = (...request) => createUserSender(service, null)(...request);

  before(async function () {
    this.timeout(120_000);
    const database = await createMigratedDatabase('permissions');
    await database.query(TABLES);
    service = await startService({ database });
    admin = createUserSender(service, service.admin.token);
  });
  after(async () => {
    await service?.stop();
    await service?.database.drop();
  });

  describe('of one role', () => {
    it('a role without permissions may neither read nor create', async () => {
      const { ask } = await createTestUserAccount(service, await makeRole(service));
      expect(statusAndCodeOf(await ask('GET', '/items/place'))).to.deep.equal([403, 'FORBIDDEN']);
      expect(statusAndCodeOf(await ask('POST', '/items/place', { name: 'x' }))).to.deep.equal([403, 'FORBIDDEN']);
    });

    it('a stored, changed or deleted permission counts from the next request on', async () => {
      const role = await makeRole(service);
      const { ask } = await createTestUserAccount(service, role);
      const id = await createTestPermission(service, role, {
        collection: 'place',
        action: 'read',
        fields: ['id', 'name'],
      });
      expect((await ask('GET', '/items/place?sort=id')).body.data).to.deep.equal([
        { id: 1, name: 'North' },
        { id: 2, name: 'South' },
      ]);
      await admin('PATCH', `/permissions/${id}`, { permissions: { name: { _eq: 'South' } } });
      expect((await ask('GET', '/items/place')).body.data).to.deep.equal([{ id: 2, name: 'South' }]);
      await admin('DELETE', `/permissions/${id}`);
      expect((await ask('GET', '/items/place')).status).to.equal(403);
    });

    it('a row rule with an incomplete _between gives no access', async () => {
      const role = await makeRole(service, {}, [
        { collection: 'place', action: 'read', permissions: { id: { _between: [1] } } },
        { collection: 'place', action: 'update', permissions: { id: { _nbetween: [1, 2, 3] } } },
      ]);
      const { ask } = await createTestUserAccount(service, role);
      expect(statusAndCodeOf(await ask('GET', '/items/place'))).to.deep.equal([403, 'FORBIDDEN']);
      expect(statusAndCodeOf(await ask('PATCH', '/items/place/1', { name: 'x' }))).to.deep.equal([403, 'FORBIDDEN']);
    });

    it('a permission written directly into the database counts without a restart', async () => {
      const role = await makeRole(service);
      const { ask } = await createTestUserAccount(service, role);
      expect((await ask('GET', '/items/place')).status).to.equal(403);
      await service.database.query(
        `insert into platform_permissions (role, collection, action, fields) values ($1, 'place', 'read', 'id')`,
        [role],
      );
      await until(async () => (await ask('GET', '/items/place')).status === 200);
      await service.database.query('delete from platform_permissions where role = $1', [role]);
      await until(async () => (await ask('GET', '/items/place')).status === 403);
    });

    it('a permission from a failed write is not cached', async () => {
      const role = await makeRole(service, {}, [{ collection: 'platform_permissions', action: 'create' }]);
      const { ask } = await createTestUserAccount(service, role);
      const row = { role, collection: 'place', action: 'read', fields: ['*'] };
      expect(statusAndCodeOf(await ask('POST', '/permissions', [row, row]))).to.deep.equal([400, 'RECORD_NOT_UNIQUE']);
      expect((await ask('GET', '/items/place')).status).to.equal(403);
    });

    it('a second permission for the same role, collection and action is refused', async () => {
      const role = await makeRole(service);
      await createTestPermission(service, role, { collection: 'place', action: 'read' });
      const again = await admin('POST', '/permissions', { role, collection: 'place', action: 'read' });
      expect(statusAndCodeOf(again)).to.deep.equal([400, 'RECORD_NOT_UNIQUE']);
    });
  });

  it('permissions of the Public role count only for callers without a token', async () => {
    const { ask } = await createTestUserAccount(service, await makeRole(service));
    expect((await publicCaller('GET', '/items/place')).status).to.equal(403);
    const id = await createTestPermission(service, null, { collection: 'place', action: 'read', fields: ['name'] });
    expect((await admin('GET', `/permissions/${id}`)).body.data.role).to.equal(PUBLIC_ROLE_ID);
    expect((await publicCaller('GET', '/items/place')).body.data).to.deep.equal([{ name: 'North' }, { name: 'South' }]);
    expect((await ask('GET', '/items/place')).status).to.equal(403);
    await admin('DELETE', `/permissions/${id}`);
    expect((await publicCaller('GET', '/items/place')).status).to.equal(403);
  });

  describe('on writes', () => {
    it('a write of a field outside the field list is FORBIDDEN', async () => {
      const role = await makeRole(service, {}, [{ collection: 'place', action: 'create', fields: ['name'] }]);
      const { ask } = await createTestUserAccount(service, role);
      expect((await ask('POST', '/items/place', { name: 'East' })).status).to.equal(204);
      expect(statusAndCodeOf(await ask('POST', '/items/place', { name: 'East', note: 'x' }))).to.deep.equal([
        403,
        'FORBIDDEN',
      ]);
      expect(statusAndCodeOf(await ask('POST', '/items/place', { name: 'East', nonsense: 1 }))).to.deep.equal([
        403,
        'FORBIDDEN',
      ]);
      expect(
        statusAndCodeOf(await ask('POST', '/items/place', '{"name":"East","__proto__":{"note":"x"}}'))[0],
      ).to.be.oneOf([400, 403]);
    });

    it('an unknown field is INVALID_PAYLOAD for a caller who may write all fields', async () => {
      const reply = await admin('POST', '/items/place', { name: 'x', nonsense: 1 });
      expect(statusAndCodeOf(reply)).to.deep.equal([400, 'INVALID_PAYLOAD']);
      expect(reply.body.errors[0].message).to.contain('nonsense');
    });

    it('presets fill missing fields of a payload', async () => {
      const role = await makeRole(service, {}, [
        {
          collection: 'visit',
          action: 'create',
          fields: ['place', 'rating'],
          presets: { guest: '$CURRENT_USER', rating: 3, at: '$NOW(-1 day)', gone: 1 },
        },
        { collection: 'visit', action: 'read' },
      ]);
      const { ask, id } = await createTestUserAccount(service, role);
      const { data } = (await ask('POST', '/items/visit', { place: 1 })).body;
      expect(data).to.include({ place: 1, guest: id, rating: 3 });
      expect(Date.now() - Date.parse(data.at)).to.be.within(86_000_000, 87_000_000);
      expect((await ask('POST', '/items/visit', { place: 1, rating: 5 })).body.data.rating).to.equal(5);
    });

    it('a payload that violates a validation is refused with one failure per rule', async () => {
      const role = await makeRole(service, {}, [
        {
          collection: 'visit',
          action: 'create',
          validation: {
            _and: [{ rating: { _between: [1, 5] } }, { guest: { _eq: '$CURRENT_USER' } }, { at: { _submitted: true } }],
          },
        },
      ]);
      const { ask, id } = await createTestUserAccount(service, role);
      const reply = await ask('POST', '/items/visit', { place: 1, rating: 9, guest: PUBLIC_ROLE_ID });
      expect(statusAndCodeOf(reply)).to.deep.equal([400, 'FAILED_VALIDATION']);
      expect(reply.body.errors.map(({ extensions }: { extensions: object }) => extensions)).to.deep.equal([
        { code: 'FAILED_VALIDATION', field: 'rating', path: [], type: 'lte', valid: 5 },
        { code: 'FAILED_VALIDATION', field: 'guest', path: [], type: 'eq', valid: id },
        { code: 'FAILED_VALIDATION', field: 'at', path: [], type: 'required' },
      ]);
      expect(
        (await ask('POST', '/items/visit', { place: 1, rating: 4, guest: id, at: '2026-01-01T00:00:00Z' })).status,
      ).to.equal(204);
    });

    it('a validation may compare with a path from $CURRENT_USER', async () => {
      const role = await makeRole(service, {}, [
        { collection: 'place', action: 'create', validation: { note: { _eq: '$CURRENT_USER.role.name' } } },
      ]);
      const { ask } = await createTestUserAccount(service, role);
      const { name } = (await admin('GET', `/roles/${role}`)).body.data;
      expect(statusAndCodeOf(await ask('POST', '/items/place', { name: 'x', note: 'y' }))).to.deep.equal([
        400,
        'FAILED_VALIDATION',
      ]);
      expect((await ask('POST', '/items/place', { name: 'x', note: name })).status).to.equal(204);
    });

    it('$CURRENT_USER of a caller without a user does not equal null', async () => {
      const id = await createTestPermission(service, null, {
        collection: 'visit',
        action: 'create',
        validation: { guest: { _eq: '$CURRENT_USER' } },
      });
      expect(statusAndCodeOf(await publicCaller('POST', '/items/visit', { place: 1, guest: null }))).to.deep.equal([
        400,
        'FAILED_VALIDATION',
      ]);
      await admin('DELETE', `/permissions/${id}`);
    });

    it('a column that cannot be null is required, also from admins', async () => {
      const missing = await admin('POST', '/items/place', { note: 'x' });
      expect(missing.body.errors[0].extensions).to.deep.equal({
        code: 'FAILED_VALIDATION',
        field: 'name',
        path: [],
        type: 'required',
      });
      const empty = await admin('PATCH', '/items/place/1', { name: null });
      expect(empty.body.errors[0].extensions).to.deep.equal({
        code: 'FAILED_VALIDATION',
        field: 'name',
        path: [],
        type: 'nnull',
      });
    });
  });

  describe('of app access', () => {
    it('permissions of app access add to the stored ones', async () => {
      const role = await makeRole(service, { app_access: true });
      const { ask, id } = await createTestUserAccount(service, role);
      expect((await ask('GET', '/users/me?fields=id,email')).body.data.id).to.equal(id);
      expect((await ask('GET', '/users?fields=id')).body.data).to.deep.equal([{ id }]);
      expect((await ask('GET', '/roles?fields=id')).body.data).to.deep.equal([{ id: role }]);
      expect((await ask('GET', '/items/place')).status).to.equal(403);
    });

    it('GET /permissions lists permissions of app access with "system": true', async () => {
      const role = await makeRole(service, { app_access: true }, [{ collection: 'place', action: 'read' }]);
      const { ask } = await createTestUserAccount(service, role);
      const { data } = (await ask('GET', '/permissions?limit=0')).body;
      expect(data.filter((row: { system?: true }) => !row.system)).to.have.length(1);
      const own = data.find((row: { collection: string }) => row.collection === 'platform_users');
      expect(own).to.include({ role, action: 'read', system: true }).and.not.have.property('id');
    });

    it('GET /permissions filters permissions of app access like stored ones', async () => {
      const role = await makeRole(service, { app_access: true }, [{ collection: 'place', action: 'read' }]);
      const { ask } = await createTestUserAccount(service, role);
      const found = async (filter: object) => {
        const text = encodeURIComponent(JSON.stringify(filter));
        const { data } = (await ask('GET', `/permissions?filter=${text}`)).body;
        return data.map(({ collection, action }: { collection: string; action: string }) => `${action} ${collection}`);
      };
      expect(await found({ collection: { _eq: 'place' } })).to.deep.equal(['read place']);
      expect(await found({ collection: { _in: ['platform_users', 'place'] } })).to.deep.equal([
        'read place',
        'read platform_users',
      ]);
      expect(await found({ _and: [{ role: { _eq: '$CURRENT_ROLE' } }, { action: { _eq: 'delete' } }] })).to.deep.equal([
        'delete platform_comments',
        'delete platform_presets',
      ]);
      expect(await found({ id: { _gt: 0 } })).to.deep.equal(['read place']);
      expect(await found({ role: { _neq: role } })).to.deep.equal([]);
    });

    it('a role without app access has none of its permissions', async () => {
      const role = await makeRole(service);
      const { ask, id } = await createTestUserAccount(service, role);
      expect((await ask('GET', '/users/me')).body.data).to.deep.equal({ id });
      expect((await ask('GET', '/permissions')).status).to.equal(403);
    });
  });

  it('"*" does not include the sensitive fields of users', async () => {
    const role = await makeRole(service, {}, [
      { collection: 'platform_users', action: 'read' },
      { collection: 'platform_users', action: 'update' },
    ]);
    const { ask, id } = await createTestUserAccount(service, role);
    const { data } = (await ask('GET', '/users/me')).body;
    for (const field of ['role', 'status', 'token', 'provider', 'external_identifier', 'tfa_secret', 'auth_data']) {
      expect(data).not.to.have.property(field);
    }
    expect(statusAndCodeOf(await ask('GET', '/users?filter[status][_eq]=active'))).to.deep.equal([403, 'FORBIDDEN']);
    for (const change of [{ role: null }, { status: 'active' }, { token: 'mine' }]) {
      expect(statusAndCodeOf(await ask('PATCH', `/users/${id}`, change)), JSON.stringify(change)).to.deep.equal([
        403,
        'FORBIDDEN',
      ]);
    }
    expect((await ask('PATCH', '/users/me', { first_name: 'Ada' })).body.data.first_name).to.equal('Ada');
  });

  describe('of a deleted field or collection', () => {
    const listOf = async (id: number) => (await admin('GET', `/permissions/${id}`)).body?.data;

    it('a deleted field leaves field lists and presets, and its row rule matches no row', async function () {
      this.timeout(120_000);
      await admin('POST', '/collections', {
        collection: 'brief',
        schema: {},
        fields: [
          { field: 'a', type: 'string' },
          { field: 'b', type: 'string' },
        ],
      });
      const role = await makeRole(service);
      const id = await createTestPermission(service, role, {
        collection: 'brief',
        action: 'read',
        fields: ['a', 'b'],
        permissions: { a: { _eq: 'x' } },
      });
      const only = await createTestPermission(service, role, {
        collection: 'brief',
        action: 'update',
        fields: ['a'],
        presets: { a: 1, b: 2 },
      });
      expect((await admin('DELETE', '/fields/brief/a')).status).to.equal(204);
      expect(await listOf(id)).to.deep.include({ fields: ['b'], permissions: { id: { _null: true } } });
      expect(await listOf(only)).to.deep.include({ fields: [], presets: { b: 2 } });
      expect((await admin('DELETE', '/collections/brief')).status).to.equal(204);
      expect(await listOf(id)).to.equal(undefined);
    });
  });
});
