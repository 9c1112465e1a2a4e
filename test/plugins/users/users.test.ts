import { expect } from 'chai';
import { PUBLIC_ROLE_ID } from '../../../plugins/access/contract.ts';
import { type InProcessService, startService } from '../../support/service.ts';
import {
  createTestUserAccount,
  createUserSender,
  errorCodeOf,
  makeRole,
  type SendAsUser,
  statusAndCodeOf,
} from './test-users.ts';

describe('users', () => {
  let service: InProcessService;
  let admin: SendAsUser;
  let plain: string;

  before(async function () {
    this.timeout(120_000);
    service = await startService();
    admin = createUserSender(service, service.admin.token);
    plain = await makeRole(service);
  });
  after(() => service?.stop());

  const make = (user: Record<string, unknown>) => admin('POST', '/users', { role: plain, ...user });

  it('a password is stored as a hash and read as a mask', async () => {
    const { data } = (await make({ email: 'hash@example.com', password: 'in clear' })).body;
    expect(data.password).to.equal('**********');
    const [row] = await service.database.query<{ password: string }>(
      'select password from platform_users where id = $1',
      [data.id],
    );
    expect(row?.password).to.match(/^\$argon2id\$/);
  });

  it('a mask that a client sends back leaves the password unchanged', async () => {
    const { id, email, password } = await createTestUserAccount(service, plain);
    expect(
      (await admin('PATCH', `/users/${id}`, { password: '**********', token: '**********', first_name: 'Bo' })).status,
    ).to.equal(200);
    const login = await service.request('POST', '/auth/login', { body: { email, password } });
    expect(login.status).to.equal(200);
  });

  it('a user manager cannot become an admin', async () => {
    const [{ id: boss }] = (await admin('GET', '/users?filter[role][admin_access][_eq]=true&limit=1')).body.data;
    const role = await makeRole(service, {}, [
      { collection: 'platform_users', action: 'update' },
      { collection: 'platform_users', action: 'read' },
      { collection: 'platform_roles', action: 'update' },
      { collection: 'platform_roles', action: 'create' },
    ]);
    const manager = await createTestUserAccount(service, role);
    const other = await createTestUserAccount(service, plain);
    for (const change of [{ password: 'mine now' }, { email: 'mine@example.com' }]) {
      expect((await manager.ask('PATCH', `/users/${boss}`, change)).status, JSON.stringify(change)).to.equal(403);
      expect((await manager.ask('PATCH', '/users', { keys: [other.id, boss], data: change })).status).to.equal(403);
    }
    expect((await manager.ask('PATCH', `/users/${other.id}`, { password: 'new one' })).status).to.equal(200);
    expect((await manager.ask('PATCH', `/users/${boss}`, { first_name: 'Bo' })).status).to.equal(200);
    expect((await manager.ask('PATCH', `/roles/${role}`, { admin_access: true })).status).to.equal(403);
    expect((await manager.ask('POST', '/roles', { name: 'Mine', admin_access: true })).status).to.equal(403);
    expect((await manager.ask('POST', '/roles', { name: 'Mine' })).status).to.equal(204);
  });

  it('a malformed e-mail address is rejected with FAILED_VALIDATION', async () => {
    for (const email of ['no-address', 'a b@example.com', 'a@', '', 7]) {
      const reply = await make({ email });
      expect(reply.body.errors[0].extensions).to.deep.equal({
        code: 'FAILED_VALIDATION',
        field: 'email',
        path: [],
        type: 'email',
      });
    }
    expect((await make({ email: null })).status).to.equal(200);
  });

  it('an e-mail address is unique whatever its case', async () => {
    const [one, two] = [await createTestUserAccount(service, plain), await createTestUserAccount(service, plain)];
    expect(errorCodeOf(await make({ email: one.email.toUpperCase() }))).to.equal('RECORD_NOT_UNIQUE');
    expect(errorCodeOf(await admin('PATCH', `/users/${two.id}`, { email: one.email }))).to.equal('RECORD_NOT_UNIQUE');
    expect((await admin('PATCH', `/users/${two.id}`, { email: two.email.toUpperCase() })).status).to.equal(200);
    const both = { keys: [one.id, two.id], data: { email: 'both@example.com' } };
    expect(errorCodeOf(await admin('PATCH', '/users', both))).to.equal('RECORD_NOT_UNIQUE');
    const twice = [{ email: 'Twice@example.com' }, { email: 'twice@example.com' }];
    expect(errorCodeOf(await admin('POST', '/users', twice))).to.equal('RECORD_NOT_UNIQUE');
    const racing = await Promise.all([make({ email: 'race@example.com' }), make({ email: 'RACE@example.com' })]);
    expect(racing.map(({ status }) => status).sort()).to.deep.equal([200, 400]);
  });

  it('callers without permission cannot find out whether an e-mail address is in use', async () => {
    const { ask, email } = await createTestUserAccount(service, plain);
    expect(statusAndCodeOf(await ask('POST', '/users', { email }))).to.deep.equal([403, 'FORBIDDEN']);
    expect(statusAndCodeOf(await createUserSender(service, null)('POST', '/users', { email }))).to.deep.equal([
      403,
      'FORBIDDEN',
    ]);
  });

  it('tfa_secret cannot be written', async () => {
    const { id } = await createTestUserAccount(service, plain);
    expect(statusAndCodeOf(await admin('PATCH', `/users/${id}`, { tfa_secret: null }))).to.deep.equal([
      400,
      'INVALID_PAYLOAD',
    ]);
  });

  it('provider is changed by admins only, which clears auth_data', async () => {
    const role = await makeRole(service, {}, [
      { collection: 'platform_users', action: 'update', fields: ['*', 'provider', 'external_identifier'] },
    ]);
    const { id, ask } = await createTestUserAccount(service, role);
    for (const change of [{ provider: 'x' }, { external_identifier: 'y' }]) {
      expect(statusAndCodeOf(await ask('PATCH', '/users/me', change))).to.deep.equal([400, 'INVALID_PAYLOAD']);
    }
    await service.database.query(`update platform_users set auth_data = '{"a":1}' where id = $1`, [id]);
    expect((await admin('PATCH', `/users/${id}`, { provider: 'x' })).status).to.equal(200);
    const rows = await service.database.query('select provider, auth_data from platform_users where id = $1', [id]);
    expect(rows).to.deep.equal([{ provider: 'x', auth_data: null }]);
  });

  it('an external identifier belongs to one user of a provider', async () => {
    const identified = (provider: string) => make({ provider, external_identifier: 'number 1' });
    const first = await identified('one');
    expect([first.status, (await identified('two')).status]).to.deep.equal([200, 200]);
    const again = await identified('one');
    expect([...statusAndCodeOf(again), again.body.errors[0].extensions.fields]).to.deep.equal([
      400,
      'RECORD_NOT_UNIQUE',
      ['provider', 'external_identifier'],
    ]);
    const moved = await admin('PATCH', `/users/${first.body.data.id}`, { provider: 'two' });
    expect(statusAndCodeOf(moved)).to.deep.equal([400, 'RECORD_NOT_UNIQUE']);
  });

  it('an unknown status, an empty password and the Public role are rejected', async () => {
    for (const user of [
      { status: 'king' },
      { status: null },
      { password: '' },
      { password: 5 },
      { role: PUBLIC_ROLE_ID },
      { role: { id: PUBLIC_ROLE_ID } },
    ]) {
      expect(statusAndCodeOf(await make(user)), JSON.stringify(user)).to.deep.equal([400, 'INVALID_PAYLOAD']);
    }
  });

  it('PATCH /users/me/track/page needs no permission', async () => {
    const { ask, id } = await createTestUserAccount(service, plain);
    expect((await ask('PATCH', '/users/me/track/page', { last_page: '/content/place' })).status).to.equal(204);
    const rows = await service.database.query('select last_page from platform_users where id = $1', [id]);
    expect(rows).to.deep.equal([{ last_page: '/content/place' }]);
    for (const body of [{}, { last_page: 1 }, { last_page: 'x'.repeat(256) }]) {
      expect(statusAndCodeOf(await ask('PATCH', '/users/me/track/page', body))).to.deep.equal([400, 'INVALID_PAYLOAD']);
    }
    expect(
      statusAndCodeOf(await createUserSender(service, null)('PATCH', '/users/me/track/page', { last_page: '/' })),
    ).to.deep.equal([401, 'INVALID_CREDENTIALS']);
  });

  it('PATCH /users/me changes the fields that the caller may update', async () => {
    const role = await makeRole(service, {}, [
      {
        collection: 'platform_users',
        action: 'update',
        fields: ['first_name'],
        permissions: { id: { _eq: '$CURRENT_USER' } },
      },
    ]);
    const { ask } = await createTestUserAccount(service, role);
    const other = await createTestUserAccount(service, plain);
    expect((await ask('PATCH', '/users/me', { first_name: 'Eve' })).status).to.equal(204);
    expect(statusAndCodeOf(await ask('PATCH', '/users/me', { last_name: 'X' }))).to.deep.equal([403, 'FORBIDDEN']);
    expect(statusAndCodeOf(await ask('PATCH', `/users/${other.id}`, { first_name: 'Eve' }))).to.deep.equal([
      403,
      'FORBIDDEN',
    ]);
    expect(statusAndCodeOf(await createUserSender(service, null)('PATCH', '/users/me', {}))).to.deep.equal([
      401,
      'INVALID_CREDENTIALS',
    ]);
  });
});
