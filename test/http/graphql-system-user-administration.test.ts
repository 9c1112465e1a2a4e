import { expect } from 'chai';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type HttpReply, type InProcessService, startService } from '../support/service.ts';

/** An admin changes the permissions of a user by `/graphql/system`; each test uses the state that the ones before it left. */
describe('/graphql/system: administering users, roles and permissions', function () {
  this.timeout(120_000);
  let database: FreshDatabase;
  let service: InProcessService;
  let role: string;
  let user: string;
  let token: string;

  const ask = (path: string, who: string | null, query: string, variables?: object): Promise<HttpReply> =>
    service.request('POST', path, { token: who, body: { query, variables } });
  async function data(pending: Promise<HttpReply>) {
    const { status, body } = await pending;
    expect([status, body.errors]).to.deep.equal([200, undefined]);
    return body.data;
  }
  const system = (query: string, variables?: object) =>
    data(ask('/graphql/system', service.admin.token, query, variables));
  const person = (query: string) => ask('/graphql', token, query);
  const codes = ({ status, body }: HttpReply) => [status, ...body.errors.map((one: Coded) => one.extensions.code)];
  type Coded = { readonly extensions: { readonly code: string } };

  async function fieldsOf(type: string, kind: 'fields' | 'inputFields' = 'fields'): Promise<unknown> {
    const { __type: found } = await data(person(`{ __type(name: "${type}") { ${kind} { name } } }`));
    return found?.[kind].map(({ name }: { name: string }) => name);
  }
  const grant = async (permission: object): Promise<string> => {
    const create =
      'mutation ($data: create_platform_permissions_input!) { create_permissions_item(data: $data) { id } }';
    return (await system(create, { data: { role: { id: role }, ...permission } })).create_permissions_item.id;
  };

  async function signIn(): Promise<void> {
    const login = `mutation { auth_login(email: "ed@example.com", password: "correct horse") { access_token } }`;
    token = (await data(ask('/graphql/system', null, login))).auth_login.access_token;
  }

  before(async () => {
    database = await createMigratedDatabase('graphql_administration');
    await database.query(`
      create table author (id serial primary key, name text not null);
      create table post (id serial primary key, title text not null, status text not null, author int references author);
      insert into author (name) values ('Ann');
      insert into post (title, status, author) values ('one', 'published', 1), ('two', 'draft', 1);
    `);
    service = await startService({ database });
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  it('an admin creates a role with a user, and the user signs in', async () => {
    const created = await system(`mutation {
      create_roles_item(data: { name: "Editors", app_access: false, users: [{ email: "ed@example.com", password: "correct horse" }] }) {
        id name admin_access app_access users { id email status password }
      }
    }`);
    const { id, users, ...rest } = created.create_roles_item;
    expect(rest).to.deep.equal({ name: 'Editors', admin_access: false, app_access: false });
    expect(users).to.have.length(1);
    expect(users[0]).to.deep.include({ email: 'ed@example.com', status: 'active', password: '**********' });
    [role, user] = [id, users[0].id];
    await signIn();
    expect(await data(person('{ _empty }'))).to.deep.equal({ _empty: null });
  });

  it('a read permission adds exactly its fields to the schema of the user', async () => {
    await grant({
      collection: 'post',
      action: 'read',
      fields: ['id', 'title', 'author'],
      permissions: { status: { _eq: 'published' } },
    });
    expect(await fieldsOf('post')).to.deep.equal(['id', 'title', 'author']);
    expect(await fieldsOf('author')).to.equal(undefined);
    expect(await data(person('{ post { id title author } }'))).to.deep.equal({
      post: [{ id: '1', title: 'one', author: 1 }],
    });
    expect(codes(await person('{ post { status } }'))).to.deep.equal([400, 'GRAPHQL_VALIDATION_EXCEPTION']);
    expect(codes(await person('{ post(filter: { status: { _eq: "draft" } }) { id } }'))).to.deep.equal([
      400,
      'GRAPHQL_VALIDATION_EXCEPTION',
    ]);
    await grant({ collection: 'author', action: 'read', fields: ['name'] });
    expect(await data(person('{ post { author { name } } }'))).to.deep.equal({ post: [{ author: { name: 'Ann' } }] });
  });

  it('a create permission makes its preset fields optional in the input', async () => {
    expect(codes(await person('mutation { create_post_item(data: { title: "x" }) { id } }'))).to.deep.equal([
      400,
      'GRAPHQL_VALIDATION_EXCEPTION',
    ]);
    await grant({
      collection: 'post',
      action: 'create',
      fields: ['title', 'status'],
      presets: { status: 'published' },
    });
    expect(await fieldsOf('create_post_input', 'inputFields')).to.deep.equal(['title', 'status']);
    const created = await data(person('mutation { create_post_item(data: { title: "three" }) { id title } }'));
    expect(created).to.deep.equal({ create_post_item: { id: '3', title: 'three' } });
    // The row is written, though the caller may not read it.
    const hidden = 'mutation { create_post_item(data: { title: "four", status: "draft" }) { id } }';
    expect(await data(person(hidden))).to.deep.equal({ create_post_item: null });
    expect(
      (await database.query(`select status from post where id in (3, 4) order by id`)).map(Object.values),
    ).to.deep.equal([['published'], ['draft']]);
  });

  it('an update permission holds within its rule until it is deleted', async () => {
    const id = await grant({
      collection: 'post',
      action: 'update',
      fields: ['title'],
      permissions: { status: { _eq: 'published' } },
    });
    const change = (key: number) =>
      person(`mutation { update_post_item(id: ${key}, data: { title: "new" }) { title } }`);
    expect(await data(change(1))).to.deep.equal({ update_post_item: { title: 'new' } });
    expect(codes(await change(2))).to.deep.equal([200, 'FORBIDDEN']);
    await system('mutation ($id: ID!) { delete_permissions_item(id: $id) { id } }', { id });
    expect(codes(await change(1))).to.deep.equal([400, 'GRAPHQL_VALIDATION_EXCEPTION']);
  });

  it('filters find permissions and users by their roles', async () => {
    const query = `query ($role: ID!) {
      permissions(filter: { role: { id: { _eq: $role } } }, sort: ["collection", "action"]) { collection action fields permissions }
      users(filter: { role: { name: { _contains: "dit" } } }) { id role { name } }
      users_aggregated(filter: { role: { id: { _eq: $role } } }) { count { id } }
      me: users(filter: { id: { _eq: "$CURRENT_USER" } }) { email }
    }`;
    expect(await system(query, { role })).to.deep.equal({
      permissions: [
        { collection: 'author', action: 'read', fields: ['name'], permissions: null },
        { collection: 'post', action: 'create', fields: ['title', 'status'], permissions: null },
        {
          collection: 'post',
          action: 'read',
          fields: ['id', 'title', 'author'],
          permissions: { status: { _eq: 'published' } },
        },
      ],
      users: [{ id: user, role: { name: 'Editors' } }],
      users_aggregated: [{ count: { id: 1 } }],
      me: [{ email: service.admin.email }],
    });
  });

  it('a suspended user is refused, and a user without a role has no permissions', async () => {
    const status = (value: string) =>
      system(`mutation ($id: ID!) { update_users_item(id: $id, data: { status: "${value}" }) { status } }`, {
        id: user,
      });
    await status('suspended');
    expect(codes(await person('{ post { id } }'))).to.deep.equal([401, 'USER_SUSPENDED']);
    await status('active');
    expect((await data(person('{ post { id } }'))).post).to.have.length(2);
    await system('mutation ($id: ID!) { update_users_item(id: $id, data: { role: null }) { id } }', { id: user });
    // The user signs in again, since an access token keeps the role that the user had when it was issued.
    await signIn();
    expect(codes(await person('{ post { id } }'))).to.deep.equal([400, 'GRAPHQL_VALIDATION_EXCEPTION']);
    await system('mutation ($id: ID!) { delete_roles_item(id: $id) { id } }', { id: role });
    expect(await system('{ permissions { id } roles(filter: { name: { _eq: "Editors" } }) { id } }')).to.deep.equal({
      permissions: [],
      roles: [],
    });
  });
});
