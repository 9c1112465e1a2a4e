import { expect } from 'chai';
import type { EventMeta } from '#kernel';
import { items } from '../../plugins/items/contract.ts';
import {
  createTestPermission,
  createTestUserAccount,
  createUserSender,
  makeRole,
  type SendAsUser,
  statusAndCodeOf,
  type TestUserAccount,
} from '../plugins/users/test-users.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { type TestComposition, type TestPlugin, writeTestPluginPackages } from '../support/test-plugins.ts';

type Way = readonly [method: string, path: string, body: unknown];

const FORBIDDEN = [403, 'FORBIDDEN'];
const PROMOTING = 'please promote';
const SENSITIVE = ['role', 'status', 'token', 'provider', 'external_identifier', 'tfa_secret', 'auth_data'];

/**
 * A plugin with listeners: one adds the role `roleOf()` to users that are written with the title PROMOTING; the other one gives
 * this role to the user that a new `paper` names, with the permissions of the caller.
 */
const obliging = (roleOf: () => string): TestPlugin => ({
  name: 'obliging',
  manifest: {
    uses: { items: '^1.0.0' },
    capabilities: { events: { filter: ['users.create', 'users.update', 'paper.items.create'] } },
  },
  register(host) {
    const used = host.use({ items });
    for (const verb of ['create', 'update'])
      host.events.onFilter(`users.${verb}`, (payload: unknown) => {
        const row = payload as { title?: string };
        return row.title === PROMOTING ? { ...row, role: roleOf() } : undefined;
      });
    host.events.onFilter('paper.items.create', async (payload: unknown, { caller }: EventMeta) => {
      const { note } = payload as { note?: string };
      if (note !== undefined)
        await used.items.updateOne(caller, 'platform_users', note, {}, { platformValues: { role: roleOf() } });
    });
  },
});

describe('an admin’s authority', () => {
  let service: InProcessService;
  let packages: TestComposition;
  let admin: SendAsUser;
  let adminRole: string;
  let plainRole: string;
  let manager: TestUserAccount;
  let other: TestUserAccount;
  let plain: TestUserAccount;
  before(async function () {
    this.timeout(120_000);
    packages = await writeTestPluginPackages([obliging(() => adminRole)]);
    service = await startService({ plugins: packages.composition.plugins });
    admin = createUserSender(service, service.admin.token);
    adminRole = (await admin('GET', '/users/me?fields=role')).body.data.role;
    await service.database.query(`
      create table paper (id serial primary key, note text, by uuid references platform_users, role uuid references platform_roles,
        kind text, about text);
      create table paper_people (id serial primary key, paper int references paper, person uuid references platform_users)`);
    await relate();
    const all = ['create', 'read', 'update', 'delete'];
    manager = await createTestUserAccount(
      service,
      await makeRole(service, {}, [
        ...all.map((action) => ({ collection: 'platform_users', action, fields: ['*', ...SENSITIVE] })),
        ...['platform_roles', 'paper', 'paper_people'].flatMap((collection) =>
          all.map((action) => ({ collection, action })),
        ),
      ]),
    );
    plainRole = await makeRole(service);
    other = await createTestUserAccount(service, adminRole);
    plain = await createTestUserAccount(service, plainRole);
  });
  after(async () => {
    await service?.stop();
    await packages?.remove();
  });

  async function relate(): Promise<void> {
    const alias = (field: string, special: string) => ({ field, type: 'alias', meta: { special: [special] } });
    await done('POST', '/fields/paper', alias('people', 'm2m'));
    await done('PATCH', '/relations/paper_people/paper', { meta: { one_field: 'people', junction_field: 'person' } });
    await done('PATCH', '/relations/paper_people/person', { meta: { junction_field: 'paper' } });
    await done('POST', '/relations', {
      ...{ collection: 'paper', field: 'about', related_collection: null },
      meta: { one_collection_field: 'kind', one_allowed_collections: ['platform_users', 'platform_roles'] },
    });
  }

  async function done(method: string, path: string, body: unknown) {
    const reply = await admin(method, path, body);
    expect(reply.status, `${method} ${path} ${JSON.stringify(reply.body)}`).to.be.oneOf([200, 204]);
    return reply.body?.data;
  }

  const stored = () =>
    service.database.query(`select to_jsonb(u) - 'last_access' as "row" from platform_users u order by id`);
  const roles = () => service.database.query('select to_jsonb(r) as "row" from platform_roles r order by id');

  async function refused(ways: readonly Way[]): Promise<void> {
    const before = [await stored(), await roles()];
    for (const [method, path, body] of ways) {
      const about = `${method} ${path} ${JSON.stringify(body)}`;
      expect([about, ...statusAndCodeOf(await manager.ask(method, path, body))]).to.deep.equal([about, ...FORBIDDEN]);
      expect([await stored(), await roles()], about).to.deep.equal(before);
    }
  }

  it('a user manager cannot assign an admin role to any user', async () => {
    const role = { role: adminRole };
    const give = { ...role, email: 'new@example.com', password: 'known to all' };
    await refused([
      ['PATCH', '/users/me', role],
      ['PATCH', `/users/${manager.id}`, role],
      ['PATCH', `/users/${plain.id}`, role],
      ['PATCH', `/users/${plain.id}`, { role: { id: adminRole } }],
      ['PATCH', `/users/${plain.id}`, { role: { id: adminRole, description: 'mine' } }],
      ['PATCH', `/users/${plain.id}`, { role: { name: 'mine', admin_access: true } }],
      ['PATCH', `/users/${plain.id}`, { role: adminRole.toUpperCase() }],
      ['PATCH', '/users', { keys: [plain.id, manager.id], data: role }],
      ['PATCH', '/users', { query: { filter: { id: { _in: [plain.id, manager.id] } } }, data: role }],
      [
        'PATCH',
        '/users',
        [
          { id: plain.id, title: 'x' },
          { id: manager.id, ...role },
        ],
      ],
      ['POST', '/users', give],
      ['POST', '/users', [{ email: 'a@example.com', role: plainRole }, give]],
      ['POST', '/users', { ...give, role: { id: adminRole } }],
    ]);
  });

  it('another spelling of the role’s key does not assign the admin role', async () => {
    const bare = adminRole.replaceAll('-', '');
    for (const role of [`{${adminRole}}`, bare, `{${bare}}`, ` ${adminRole} `, bare.replaceAll(/.{4}(?=.)/g, '$&-')]) {
      const { status } = await manager.ask('PATCH', `/users/${manager.id}`, { role });
      expect(status, role).to.be.oneOf([400, 403]);
      expect((await manager.ask('POST', '/users', { email: 'a@example.com', role })).status, role).to.be.oneOf([
        400, 403,
      ]);
    }
    const [found] = await service.database.query<{ role: string }>('select role from platform_users where id = $1', [
      manager.id,
    ]);
    expect(found?.role).not.to.equal(adminRole);
  });

  it('writing users through the role does not assign the admin role', async () => {
    const ways = [
      { update: [{ id: manager.id }] },
      { update: [{ id: plain.id, title: 'x' }] },
      { create: [{ email: 'new@example.com' }] },
      [manager.id],
      [other.id, manager.id],
      [other.id, { id: manager.id }],
      [{ email: 'new@example.com' }],
    ];
    await refused(ways.map((users) => ['PATCH', `/roles/${adminRole}`, { users }]));
    await refused([
      ['PATCH', '/roles', { keys: [adminRole], data: { users: { update: [{ id: manager.id }] } } }],
      ['PATCH', '/roles', [{ id: adminRole, users: { update: [{ id: manager.id }] } }]],
    ]);
  });

  it('nested writes from other collections do not assign the admin role', async () => {
    const mine = { id: manager.id, role: adminRole };
    await refused([
      ['POST', '/items/paper', { by: mine }],
      ['POST', '/items/paper', { by: { email: 'new@example.com', role: adminRole } }],
      ['POST', '/items/paper', { people: [{ person: mine }] }],
      ['POST', '/items/paper', { people: { create: [{ person: mine }], update: [], delete: [] } }],
      ['POST', '/items/paper', { kind: 'platform_users', about: mine }],
      [
        'POST',
        '/items/paper',
        { kind: 'platform_roles', about: { id: adminRole, users: { update: [{ id: manager.id }] } } },
      ],
      ['POST', '/items/paper', { role: { id: adminRole, users: [manager.id] } }],
      ['POST', '/items/paper', { role: { name: 'mine', admin_access: true } }],
    ]);
  });

  it('a user manager cannot change role, status, e-mail, password or token of an admin', async () => {
    const changes = [
      { role: plainRole },
      { role: null },
      { status: 'suspended' },
      { email: 'taken@example.com' },
      { password: 'known to all' },
      { token: 'a token that is known to all' },
      { token: null },
      { tfa_secret: null },
      { provider: 'elsewhere' },
      { external_identifier: 'mine' },
      { auth_data: {} },
    ];
    await refused([
      ...changes.map((change): Way => ['PATCH', `/users/${other.id}`, change]),
      ...changes.map((change): Way => ['PATCH', '/users', { keys: [plain.id, other.id], data: change }]),
      ...changes.map((change): Way => ['POST', '/items/paper', { by: { id: other.id, ...change } }]),
      ['PATCH', '/users', { query: { filter: { id: { _in: [plain.id, other.id] } } }, data: { password: 'known' } }],
      ['PATCH', `/roles/${plainRole}`, { users: { update: [{ id: other.id }] } }],
      ['PATCH', `/roles/${plainRole}`, { users: [plain.id, other.id] }],
      ['PATCH', `/roles/${adminRole}`, { users: { delete: [other.id] } }],
      ['PATCH', `/roles/${adminRole}`, { users: [] }],
      ['POST', '/roles', { name: 'Taker', users: { update: [{ id: other.id }] } }],
    ]);
    expect((await manager.ask('PATCH', `/users/${other.id}`, { title: 'Captain' })).status).to.equal(200);
  });

  it('a user manager cannot delete an admin or an admin role, nor change the role’s flags', async () => {
    await refused([
      ['DELETE', `/users/${other.id}`, undefined],
      ['DELETE', '/users', [plain.id, other.id]],
      ['DELETE', '/users', { query: { filter: { id: { _eq: other.id } } } }],
      ['DELETE', `/roles/${adminRole}`, undefined],
      ['PATCH', `/roles/${adminRole}`, { admin_access: false }],
      ['PATCH', `/roles/${adminRole}`, { ip_access: ['192.0.2.1'] }],
      ['PATCH', `/roles/${adminRole}`, { app_access: false }],
      ['PATCH', `/roles/${adminRole}`, { enforce_tfa: true }],
      ['PATCH', `/roles/${plainRole}`, { admin_access: true }],
      ['PATCH', `/roles/${manager.role}`, { admin_access: 1 }],
      ['POST', '/roles', { name: 'mine', admin_access: 'true' }],
    ]);
    expect((await manager.ask('PATCH', `/roles/${adminRole}`, { description: 'May do all' })).status).to.equal(200);
    expect(
      (await manager.ask('PATCH', `/roles/${plainRole}`, { admin_access: false, app_access: true })).status,
    ).to.equal(200);
  });

  it('presets, listeners and packages acting for the caller cannot assign the admin role', async () => {
    const presets = await createTestPermission(service, manager.role, {
      collection: 'platform_permissions',
      action: 'read',
    });
    const [update] = (
      await admin(
        'GET',
        `/permissions?filter[role]=${manager.role}&filter[collection]=platform_users&filter[action]=update`,
      )
    ).body.data;
    await done('PATCH', `/permissions/${update.id}`, { presets: { role: adminRole } });
    await refused([['PATCH', '/users/me', { title: 'x' }]]);
    await done('PATCH', `/permissions/${update.id}`, { presets: null });
    await done('DELETE', `/permissions/${presets}`, undefined);
    await refused([
      ['PATCH', '/users/me', { title: PROMOTING }],
      ['POST', '/users', { title: PROMOTING }],
      ['POST', '/items/paper', { note: manager.id }],
    ]);
  });

  it('GraphQL mutations cannot assign the admin role', async () => {
    const before = [await stored(), await roles()];
    const documents = [
      `update_users_me(data: { role: { id: "${adminRole}" } }) { id }`,
      `update_users_item(id: "${plain.id}", data: { role: { id: "${adminRole}" } }) { id }`,
      `update_users_items(ids: ["${plain.id}"], data: { role: { id: "${adminRole}" } }) { id }`,
      `update_users_batch(data: [{ id: "${plain.id}", role: { id: "${adminRole}" } }]) { id }`,
      `create_users_item(data: { email: "new@example.com", role: { id: "${adminRole}" } }) { id }`,
      `create_users_items(data: [{ email: "new@example.com", role: { id: "${adminRole}" } }]) { id }`,
      `update_roles_item(id: "${adminRole}", data: { users: [{ id: "${manager.id}" }] }) { id }`,
      `update_users_item(id: "${other.id}", data: { password: "known to all" }) { id }`,
      `delete_users_item(id: "${other.id}") { id }`,
      `delete_roles_item(id: "${adminRole}") { id }`,
    ];
    for (const document of documents) {
      const { body } = await manager.ask('POST', '/graphql/system', { query: `mutation { ${document} }` });
      expect(body.errors?.[0]?.extensions?.code, `${document} ${JSON.stringify(body)}`).to.equal('FORBIDDEN');
      expect([await stored(), await roles()], document).to.deep.equal(before);
    }
  });

  it('admins assign and remove the admin role, and a manager still manages other users', async () => {
    const fresh = await createTestUserAccount(service, plainRole);
    for (const change of [
      { status: 'suspended' },
      { status: 'active' },
      { password: 'a new one' },
      { role: manager.role },
    ])
      expect((await manager.ask('PATCH', `/users/${fresh.id}`, change)).status, JSON.stringify(change)).to.equal(200);
    await done('PATCH', `/users/${fresh.id}`, { role: adminRole });
    expect(statusAndCodeOf(await manager.ask('DELETE', `/users/${fresh.id}`))).to.deep.equal(FORBIDDEN);
    await done('PATCH', `/roles/${plainRole}`, { users: { update: [{ id: fresh.id }] } });
    expect((await manager.ask('DELETE', `/users/${fresh.id}`)).status).to.equal(204);
  });
});
