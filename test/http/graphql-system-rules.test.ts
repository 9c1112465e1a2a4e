import { expect } from 'chai';
import {
  createTestPermission,
  createTestUserAccount,
  makeRole,
  type TestUserAccount,
} from '../plugins/users/test-users.ts';
import { type InProcessService, startService } from '../support/service.ts';

/** Fields of users that `*` in the field list of a permission does not include. */
const SENSITIVE = ['role', 'status', 'provider'];
const PUBLIC = '00000000-0000-0000-0000-000000000000';

describe('/graphql/system: rules of system collections', function () {
  this.timeout(120_000);
  let service: InProcessService;
  let writer: TestUserAccount;
  let app: TestUserAccount;
  const send = async (token: string | null, query: string, variables?: object) =>
    (await service.request('POST', '/graphql/system', { token, body: { query, variables } })).body;
  const codes = async (token: string | null, query: string, variables?: object): Promise<unknown[]> => {
    const { errors = [] } = await send(token, query, variables);
    return errors.map((error: { extensions: { code: unknown } }) => error.extensions.code);
  };
  const done = async (token: string | null, query: string, variables?: object) => {
    const { data, errors } = await send(token, query, variables);
    expect(errors, JSON.stringify(errors)).to.equal(undefined);
    return data;
  };
  const admin = (query: string, variables?: object) => codes(service.admin.token, query, variables);
  const keyOf = async (text: string) => (await service.database.query<{ id: string }>(text))[0]?.id as string;

  before(async () => {
    service = await startService();
    await service.database.query(`create table posts (id serial primary key, title text);
      create table drafts (id serial primary key, title text);
      insert into posts (title) values ('One');
      insert into drafts (title) values ('Two')`);
    const everything = ['create', 'read', 'update', 'delete'];
    const grants = ['users', 'roles', 'permissions', 'notifications', 'comments', 'presets'].flatMap((name) =>
      everything.map((action) => ({
        collection: `platform_${name}`,
        action,
        fields: ['*', ...(name === 'users' ? SENSITIVE : [])],
      })),
    );
    writer = await createTestUserAccount(service, await makeRole(service, {}, grants));
    app = await createTestUserAccount(service, await makeRole(service, { app_access: true }));
    for (const { role } of [writer, app])
      await createTestPermission(service, role, { collection: 'posts', action: 'read' });
  });
  after(() => service?.stop());

  it('users: the last admin cannot be deleted, suspended or demoted', async () => {
    const id = await keyOf(`select id from platform_users where email = '${service.admin.email}'`);
    for (const change of [
      `delete_users_item(id: "${id}") { id }`,
      `delete_users_items(ids: ["${id}"]) { ids }`,
      `update_users_item(id: "${id}", data: { status: "suspended" }) { id }`,
      `update_users_items(ids: ["${id}"], data: { role: null }) { id }`,
      `update_users_batch(data: [{ id: "${id}", status: "suspended" }]) { id }`,
    ]) {
      expect(await admin(`mutation { ${change} }`), change).to.deep.equal(['UNPROCESSABLE_ENTITY']);
    }
  });

  it('users: a caller that may update users cannot become an admin', async () => {
    const id = await keyOf(`select id from platform_users where email = '${service.admin.email}'`);
    const update =
      'mutation ($id: ID!, $data: update_platform_users_input!) { update_users_item(id: $id, data: $data) { id } }';
    expect(await codes(writer.token, update, { id, data: { password: 'mine now' } })).to.deep.equal(['FORBIDDEN']);
    expect(
      await codes(writer.token, update, { id: writer.id, data: { role: { admin_access: true, name: 'Mine' } } }),
    ).to.deep.equal(['FORBIDDEN']);
    for (const data of [{ email: 'no address' }, { status: 'gone' }, { password: '' }, { provider: 'elsewhere' }]) {
      const found = await codes(writer.token, update, { id: writer.id, data });
      const code = 'email' in data ? 'FAILED_VALIDATION' : 'INVALID_PAYLOAD';
      expect(found, JSON.stringify(data)).to.deep.equal([code]);
    }
    expect(
      await codes(writer.token, 'mutation { create_users_item(data: { email: "ADMIN@example.com" }) { id } }'),
    ).to.deep.equal(['RECORD_NOT_UNIQUE']);
  });

  it('users: a new password ends the sessions of the user, and no answer shows it', async () => {
    const body = { email: app.email, password: app.password };
    const { refresh_token: token } = (await service.request('POST', '/auth/login', { body })).body.data;
    const changed = await done(
      service.admin.token,
      `mutation { update_users_item(id: "${app.id}", data: { password: "a new one" }) { id password token } }`,
    );
    expect(changed.update_users_item).to.deep.equal({ id: app.id, password: '**********', token: '**********' });
    const again = await service.request('POST', '/auth/refresh', { body: { refresh_token: token } });
    expect(again.status).to.equal(401);
  });

  it('roles: the Public role cannot be deleted, and users of a deleted role are suspended', async () => {
    expect(await admin(`mutation { delete_roles_item(id: "${PUBLIC}") { id } }`)).to.deep.equal(['INVALID_PAYLOAD']);
    expect(
      await admin(`mutation { update_roles_item(id: "${PUBLIC}", data: { admin_access: true }) { id } }`),
    ).to.deep.equal(['INVALID_PAYLOAD']);
    expect(
      await codes(writer.token, 'mutation { create_roles_item(data: { name: "A", admin_access: true }) { id } }'),
    ).to.deep.equal(['FORBIDDEN']);
    const member = await createTestUserAccount(service, await makeRole(service));
    await done(service.admin.token, `mutation { delete_roles_item(id: "${member.role}") { id } }`);
    const rows = await service.database.query('select role, status from platform_users where id = $1', [member.id]);
    expect(rows).to.deep.equal([{ role: null, status: 'suspended' }]);
  });

  it('permissions: invalid ones are refused, for the Public role as for others', async () => {
    const create =
      'mutation ($data: create_platform_permissions_input!) { create_permissions_item(data: $data) { id role { id } } }';
    const data = { role: { id: PUBLIC }, collection: 'posts', action: 'read', fields: ['id'] };
    expect(await admin(create, { data: { ...data, action: 'fly' } })).to.deep.equal(['INVALID_PAYLOAD']);
    expect(await admin(create, { data: { ...data, permissions: [1] } })).to.deep.equal(['INVALID_PAYLOAD']);
    expect(await admin(create, { data: { ...data, fields: ['a,b'] } })).to.deep.equal(['INVALID_PAYLOAD']);
    const permission = (await done(service.admin.token, create, { data })).create_permissions_item;
    expect(permission.role).to.deep.equal({ id: PUBLIC });
    expect((await service.request('GET', '/items/posts')).body.data).to.deep.equal([{ id: 1 }]);
    await done(service.admin.token, `mutation { delete_permissions_item(id: "${permission.id}") { id } }`);
    expect((await service.request('GET', '/items/posts')).status).to.equal(403);
  });

  it('comments: need read access to the item and cannot be moved to another collection', async () => {
    const create = (collection: string, item: string) =>
      `mutation { create_comments_item(data: { collection: "${collection}", item: "${item}", comment: "Fine" }) { id item } }`;
    for (const { token } of [writer, app]) {
      expect(await codes(token, create('drafts', '1'))).to.deep.equal(['FORBIDDEN']);
      expect(await codes(token, create('posts', '99'))).to.deep.equal(['FORBIDDEN']);
    }
    const { id, item } = (await done(app.token, create('posts', '1'))).create_comments_item;
    expect(item).to.equal('1');
    expect(
      await admin(`mutation { update_comments_item(id: "${id}", data: { collection: "drafts" }) { id } }`),
    ).to.deep.equal(['INVALID_PAYLOAD']);
    const entries = await service.database.query(`select "user" from platform_activity where action = 'comment'`);
    expect(entries).to.deep.equal([{ user: app.id }]);
  });

  it('presets: a user with app access can create presets for itself only', async () => {
    const create = 'mutation ($data: create_platform_presets_input!) { create_presets_item(data: $data) { id } }';
    expect(await codes(app.token, create, { data: { collection: 'posts', user: writer.id } })).to.deep.equal([
      'FORBIDDEN',
    ]);
    expect(await codes(app.token, create, { data: { collection: 'posts', user: null } })).to.deep.equal(['FORBIDDEN']);
    const { id } = (await done(app.token, create, { data: { collection: 'posts' } })).create_presets_item;
    expect(await service.database.query('select "user" from platform_presets where id = $1', [id])).to.deep.equal([
      { user: app.id },
    ]);
  });

  it('notifications: the sender is always the caller', async () => {
    const create =
      'mutation ($data: create_platform_notifications_input!) { create_notifications_item(data: $data) { id } }';
    const data = { recipient: { id: app.id }, subject: 'Hello' };
    expect(await codes(writer.token, create, { data: { ...data, status: 'lost' } })).to.deep.equal(['INVALID_PAYLOAD']);
    const { id } = (await done(writer.token, create, { data })).create_notifications_item;
    const update = `mutation { update_notifications_item(id: "${id}", data: { status: "archived", sender: null }) { status } }`;
    await done(writer.token, update);
    expect(
      await service.database.query('select sender, status from platform_notifications where id = $1', [id]),
    ).to.deep.equal([{ sender: writer.id, status: 'archived' }]);
  });

  it('folders: a folder cannot be its own ancestor', async () => {
    const make = 'mutation { create_folders_item(data: { name: "A" }) { id } }';
    const { id } = (await done(service.admin.token, make)).create_folders_item;
    const found = await admin(
      `mutation { update_folders_item(id: "${id}", data: { parent: { id: "${id}" } }) { id } }`,
    );
    expect(found).to.deep.equal(['INVALID_PAYLOAD']);
    expect(await service.database.query('select parent from platform_folders where id = $1', [id])).to.deep.equal([
      { parent: null },
    ]);
  });

  it('the schema has activity and revisions to read, and neither sessions nor extension settings', async () => {
    const { __schema: schema } = await done(
      service.admin.token,
      '{ __schema { queryType { fields { name } } mutationType { fields { name } } types { name } } }',
    );
    const names = (type: { fields: readonly { name: string }[] }) => type.fields.map(({ name }) => name);
    expect(names(schema.queryType)).to.include.members(['activity', 'activity_by_id', 'revisions']);
    expect(names(schema.mutationType).filter((name) => /activity|revisions/.test(name))).to.deep.equal([]);
    const all = schema.types.map(({ name }: { name: string }) => name);
    expect([...names(schema.queryType), ...all].filter((name) => /session|extension_/.test(name))).to.deep.equal([]);
  });
});
