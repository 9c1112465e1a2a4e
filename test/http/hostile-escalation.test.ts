import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import { PUBLIC_ROLE_ID } from '../../plugins/access/contract.ts';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService, TEST_SECRET } from '../support/service.ts';
import { createUserWithPermissions, requestAsAdmin } from './test-users.ts';

describe('a caller cannot gain permissions', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  let admin: { id: string; role: string };
  before(async function () {
    this.timeout(120_000);
    database = await createMigratedDatabase('hostile_escalation');
    service = await startService({ database });
    admin = await requestAsAdmin(service, 'GET', '/users/me?fields=id,role');
    await database.query(`
      create table salary (id serial primary key, amount int, owner uuid);
      create table child (id serial primary key, name text, salary int references salary);
      create table paper (id serial primary key, by uuid references platform_users, role uuid references platform_roles);
      create table blocked (id serial primary key, salary int references salary, who uuid);
      insert into salary (amount, owner) values (5, null), (1, null), (9, null);
      insert into child (name, salary) values ('a', 1), ('b', 2)`);
    for (const [one, field, many, key] of [
      ['salary', 'children', 'child', 'salary'],
      ['salary', 'blocks', 'blocked', 'salary'],
    ] as const) {
      await requestAsAdmin(service, 'POST', `/fields/${one}`, { field, type: 'alias', meta: { special: ['o2m'] } });
      await requestAsAdmin(service, 'PATCH', `/relations/${many}/${key}`, { meta: { one_field: field } });
    }
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  const send = (method: string, path: string, token?: string | null, body?: unknown, headers = {}) =>
    service.request(method, path, { token, body, headers });
  const statusOf = async (...args: Parameters<typeof send>) => (await send(...args)).status;
  const roleOf = async (id: string) =>
    (await database.query<{ role: string }>('select role from platform_users where id = $1', [id]))[0]?.role;

  it('a caller gains no permissions by updating its own user', async () => {
    const me = await createUserWithPermissions(service, [
      { collection: 'platform_users', action: 'update', permissions: { id: { _eq: '$CURRENT_USER' } } },
      { collection: 'platform_users', action: 'read' },
    ]);
    const before = await database.query('select * from platform_users where id = $1', [me.id]);
    const bodies: readonly object[] = [
      { role: admin.role },
      { role: { id: admin.role } },
      { role: { name: 'mine', admin_access: true } },
      { role: null },
      { status: 'active' },
      { token: 'known' },
      { admin_access: true },
      { admin: true },
      { provider: 'x' },
      { external_identifier: 'x' },
      { auth_data: {} },
      { tfa_secret: 'x' },
      { id: 'b7f0c1de-0000-4000-8000-000000000001' },
      { id: admin.id },
      { first_name: 'x', role: admin.role },
      { ['__proto__']: 1, constructor: {} },
    ];
    for (const body of bodies) {
      for (const [path, sent] of [
        ['/users/me', body],
        [`/users/${me.id}`, body],
        ['/users', { keys: [me.id], data: body }],
        ['/users', { query: {}, data: body }],
      ] as const) {
        expect(await statusOf('PATCH', path, me.token, sent), JSON.stringify(body)).to.be.oneOf([400, 403, 422]);
      }
    }
    expect(await database.query('select * from platform_users where id = $1', [me.id])).to.deep.equal(before);
    expect(await statusOf('PATCH', '/users/me', me.token, { id: me.id.toUpperCase(), first_name: 'mine' })).to.equal(
      200,
    );
  });

  it('a caller gains no permissions by creating users, directly or through relations', async () => {
    const me = await createUserWithPermissions(service, [
      { collection: 'platform_users', action: 'create' },
      {
        collection: 'platform_users',
        action: 'update',
        permissions: { id: { _eq: '$CURRENT_USER' } },
        fields: ['first_name'],
      },
      { collection: 'platform_roles', action: 'read' },
      { collection: 'platform_roles', action: 'update', fields: ['name', 'users'] },
      { collection: 'paper', action: 'create' },
      { collection: 'paper', action: 'update' },
    ]);
    const users = await database.query('select count(*) from platform_users');
    const tries: readonly [string, string, unknown][] = [
      ['POST', '/users', { email: 'a@b.c', role: admin.role }],
      ['POST', '/users', { email: 'a@b.c', role: { name: 'x', admin_access: true } }],
      ['POST', '/users', [{ email: 'a@b.c' }, { email: 'b@b.c', token: 'known' }]],
      ['POST', '/items/paper', { by: { email: 'a@b.c', role: admin.role } }],
      ['POST', '/items/paper', { by: { id: admin.id, password: 'mine now' } }],
      ['POST', '/items/paper', { role: { name: 'x', admin_access: true } }],
      ['POST', '/items/paper', { role: { id: me.role, admin_access: true } }],
      ['PATCH', `/roles/${admin.role}`, { users: { create: [{ email: 'a@b.c', password: 'known' }] } }],
      ['PATCH', `/roles/${admin.role}`, { users: { update: [{ id: me.id }] } }],
      ['PATCH', `/roles/${admin.role}`, { users: [admin.id, me.id] }],
      ['PATCH', `/roles/${admin.role}`, { users: [admin.id, { id: me.id, first_name: 'x' }] }],
      ['PATCH', `/roles/${me.role}`, { users: [] }],
      ['PATCH', `/roles/${PUBLIC_ROLE_ID}`, { users: [me.id] }],
      ['PATCH', `/roles/${me.role}`, { admin_access: true }],
      ['POST', '/permissions', { role: me.role, collection: 'salary', action: 'read', fields: ['*'] }],
    ];
    for (const [method, path, body] of tries)
      expect(await statusOf(method, path, me.token, body), JSON.stringify(body)).to.be.within(400, 403);
    expect(await roleOf(me.id)).to.equal(me.role);
    expect(await database.query('select count(*) from platform_users')).to.deep.equal(users);
    expect(await statusOf('POST', '/users', me.token, { email: 'ordinary@example.com' })).to.equal(204);
  });

  it('a caller gains no permissions by system collections at /items, or by changing the schema', async () => {
    const me = await createUserWithPermissions(
      service,
      ['create', 'read', 'update', 'delete'].map((action) => ({ collection: 'salary', action: action as 'read' })),
      { app_access: true },
    );
    for (const name of [
      'platform_users',
      'platform_sessions',
      'platform_permissions',
      'platform_migrations',
      '%70latform_users',
      'PLATFORM_USERS',
      'pg_catalog.pg_authid',
      'pg_authid',
    ]) {
      expect(await statusOf('GET', `/items/${name}`, me.token), name).to.equal(403);
      // Only an admin gets 404 for a missing collection; other callers get 403 for missing and forbidden ones.
      expect(await statusOf('GET', `/items/${name}`, service.admin.token), name).to.be.oneOf([403, 404]);
    }
    const writes: readonly [string, string, unknown][] = [
      ['POST', '/collections', { collection: 'mine' }],
      ['PATCH', '/collections/salary', { meta: { singleton: true } }],
      ['DELETE', '/collections/salary', undefined],
      ['POST', '/fields/salary', { field: 'x', type: 'string' }],
      ['PATCH', '/fields/salary/amount', { meta: {} }],
      ['DELETE', '/fields/salary/amount', undefined],
      ['POST', '/relations', { collection: 'salary', field: 'x', related_collection: 'child' }],
      ['PATCH', '/relations/child/salary', { meta: {} }],
      ['DELETE', '/relations/child/salary', undefined],
      ['PATCH', '/collections', [{ collection: 'salary', meta: {} }]],
      ['PATCH', '/fields/salary', [{ field: 'amount', meta: {} }]],
    ];
    for (const [method, path, body] of writes) {
      for (const token of [me.token, null])
        expect(await statusOf(method, path, token, body), `${method} ${path}`).to.equal(403);
    }
    const seen = JSON.stringify(
      [
        await send('GET', '/collections', me.token),
        await send('GET', '/fields', me.token),
        await send('GET', '/relations', me.token),
      ].map(({ body }) => body),
    );
    expect(seen).not.to.match(/"(child|paper|blocked|platform_sessions)"/);
  });

  it('a caller gains no permissions by changing the Public role', async () => {
    const { token } = service.admin;
    for (const body of [
      { admin_access: true },
      { app_access: true },
      { ip_access: ['1.1.1.1'] },
      { enforce_tfa: true },
      { users: [admin.id] },
      { id: 'b7f0c1de-0000-4000-8000-000000000001' },
      { key: 'other' },
    ]) {
      expect(await statusOf('PATCH', `/roles/${PUBLIC_ROLE_ID}`, token, body), JSON.stringify(body)).to.equal(400);
      expect(await statusOf('PATCH', '/roles', token, { query: {}, data: body }), JSON.stringify(body)).to.be.within(
        400,
        422,
      );
    }
    expect(await statusOf('DELETE', `/roles/${PUBLIC_ROLE_ID}`, token)).to.equal(400);
    expect(await statusOf('DELETE', '/roles', token, { query: {} })).to.be.within(400, 422);
    expect(await statusOf('PATCH', `/users/${admin.id}`, token, { role: PUBLIC_ROLE_ID })).to.equal(400);
    expect(await statusOf('PATCH', `/users/${admin.id}`, token, { role: { id: PUBLIC_ROLE_ID, name: 'x' } })).to.equal(
      400,
    );
    expect(
      await database.query('select admin_access, key from platform_roles where id = $1', [PUBLIC_ROLE_ID]),
    ).to.deep.equal([{ admin_access: false, key: 'public' }]);
  });

  it('a caller gains no permissions by a rule with $CURRENT_USER without a user', async () => {
    await database.query(`insert into blocked (salary, who) values (1, null), (2, '${admin.id}')`);
    const rules = [
      { owner: { _eq: '$CURRENT_USER' } },
      { owner: { _neq: '$CURRENT_USER' } },
      { owner: { _nin: ['$CURRENT_USER'] } },
      { owner: { _nin: ['$CURRENT_USER', admin.id] } },
      { _or: [{ owner: '$CURRENT_USER' }, { owner: { _neq: '$CURRENT_USER' } }] },
      { owner: { _eq: '$CURRENT_ROLE' } },
      { owner: { _in: ['$CURRENT_USER', '$CURRENT_ROLE'] } },
      { blocks: { _none: { who: { _eq: '$CURRENT_USER' } } } },
      { blocks: { _none: { who: { _neq: '$CURRENT_USER' } } } },
      { blocks: { _some: { who: { _neq: '$CURRENT_USER' } } } },
      { children: { salary: { blocks: { _none: { who: '$CURRENT_USER' } } } } },
      { blocks: { _none: { _or: [{ who: { _eq: '$CURRENT_USER' } }, { who: { _null: true } }] } } },
      { amount: { _nbetween: ['$CURRENT_USER.title', 3] } },
      { owner: { _eq: '$CURRENT_USER.role' } },
      { owner: { _neq: '$CURRENT_ROLE.id' } },
    ];
    await requestAsAdmin(service, 'POST', '/permissions', {
      role: null,
      collection: 'child',
      action: 'read',
      permissions: { salary: { blocks: { _none: { who: '$CURRENT_USER' } } } },
      fields: ['*'],
    });
    expect((await send('GET', '/items/child')).body.data).to.deep.equal([]);
    for (const rule of rules) {
      const permission = await requestAsAdmin(service, 'POST', '/permissions', {
        role: null,
        collection: 'salary',
        action: 'read',
        permissions: rule,
        fields: ['*'],
      });
      const all = ['update', 'delete'].map((action) => ({
        role: null,
        collection: 'salary',
        action,
        permissions: rule,
        fields: ['*'],
      }));
      const more = await requestAsAdmin(service, 'POST', '/permissions', all);
      const reply = await send('GET', '/items/salary');
      expect([rule, reply.body.data ?? reply.status]).to.deep.equal([rule, reply.status === 200 ? [] : 400]);
      for (const id of [1, 2, 3]) {
        expect(await statusOf('GET', `/items/salary/${id}`)).to.be.within(400, 403);
        expect(await statusOf('PATCH', `/items/salary/${id}`, null, { amount: 0 })).to.be.within(400, 403);
        expect(await statusOf('DELETE', `/items/salary/${id}`)).to.be.within(400, 403);
      }
      await requestAsAdmin(service, 'DELETE', '/permissions', [
        permission.id,
        ...more.map(({ id }: { id: number }) => id),
      ]);
    }
  });

  it('a caller gains no permissions by observing what updates and filters do to rows it may not read', async () => {
    const me = await createUserWithPermissions(service, [
      { collection: 'salary', action: 'update', permissions: { id: { _eq: 2 } } },
      { collection: 'salary', action: 'delete', permissions: { id: { _eq: 2 } } },
      { collection: 'child', action: 'read', fields: ['id', 'name', 'salary'] },
    ]);
    for (const query of [
      { sort: 'amount', limit: 1 },
      { sort: ['-amount'], limit: 1 },
      { filter: { amount: { _lt: 2 } } },
      { search: '1' },
      { filter: { id: 2 } },
    ]) {
      expect(await statusOf('PATCH', '/items/salary', me.token, { query, data: {} }), JSON.stringify(query)).to.equal(
        403,
      );
      expect(await statusOf('DELETE', '/items/salary', me.token, { query }), JSON.stringify(query)).to.equal(403);
    }
    const paths = [
      'filter[salary][amount][_gt]=1',
      'filter[salary][id][_eq]=1',
      'filter[salary][unknown]=1',
      'filter[salary][children][name]=a',
      'filter[salary][blocks][_null]=true',
      'filter[salary][_and][0][amount]=1',
      'sort=salary.amount',
      'sort=salary.id',
      'filter[_or][0][salary][amount]=1',
      'filter[unknown]=1',
      'sort=unknown',
      'sort=salary.unknown',
    ];
    const answers = await Promise.all(paths.map((path) => send('GET', `/items/child?${path}`, me.token)));
    // Hidden and missing fields get the same answer, so that it does not show which fields exist.
    for (const [at, { status, body }] of answers.entries())
      expect([paths[at], status, body]).to.deep.equal([paths[at], 403, answers[0]?.body]);
    for (const query of [
      'fields=salary.amount,id',
      'fields=id,x.amount&alias[x]=salary',
      'fields=*.*',
      'fields=id,salary.children.name',
      'deep[salary][_sort]=amount',
    ]) {
      const { status, body } = await send('GET', `/items/child?${query}`, me.token);
      expect([query, status]).to.deep.equal([query, 200]);
      expect(JSON.stringify(body), query).not.to.include('amount');
    }
  });

  it('a caller gains no permissions by a key it may not read: reading by key works, filtering on the key does not', async () => {
    const me = await createUserWithPermissions(service, [{ collection: 'child', action: 'read', fields: ['name'] }]);
    expect((await send('GET', '/items/child/1', me.token)).body.data).to.deep.equal({ name: 'a' });
    for (const query of ['filter[id]=1', 'filter[id][_gt]=0', 'sort=-id', 'filter[_or][0][id]=1']) {
      expect(await statusOf('GET', `/items/child?${query}`, me.token), query).to.equal(403);
    }
    expect((await send('GET', '/items/child?search=1', me.token)).body.data).to.deep.equal([]);
  });

  it('a caller gains no permissions by taking over rows with a nested write', async () => {
    const me = await createUserWithPermissions(service, [
      { collection: 'salary', action: 'create' },
      { collection: 'salary', action: 'update' },
      { collection: 'salary', action: 'read' },
      { collection: 'child', action: 'update', permissions: { name: { _eq: 'mine' } } },
      { collection: 'child', action: 'read' },
    ]);
    const before = await database.query('select * from child order by id');
    for (const children of [
      [1],
      [{ id: 1 }],
      { update: [{ id: 1 }] },
      [1, 2],
      { create: [{ name: 'new' }] },
      { delete: [1] },
      [{ name: 'new' }],
    ]) {
      expect(await statusOf('PATCH', '/items/salary/3', me.token, { children }), JSON.stringify(children)).to.equal(
        403,
      );
      expect(await statusOf('POST', '/items/salary', me.token, { children }), JSON.stringify(children)).to.equal(403);
    }
    expect(await statusOf('PATCH', '/items/salary/1', me.token, { children: [] })).to.equal(403);
    expect(await database.query('select * from child order by id')).to.deep.equal(before);
  });

  it('a caller gains no permissions by a broken permission rule, which denies access without details', async () => {
    const me = await createUserWithPermissions(service, [
      { collection: 'child', action: 'read', permissions: { name: { _nonsense: 'hidden word' } } },
    ]);
    const reply = await send('GET', '/items/child', me.token);
    expect(reply.status).to.equal(403);
    expect(JSON.stringify(reply.body)).not.to.match(/nonsense|hidden|name/);
  });

  it('a caller gains no permissions by tokens with a wrong signature or for another purpose', async () => {
    const claims = jwt.decode(service.admin.token) as Record<string, unknown>;
    const unsigned = (head: unknown, body: unknown) =>
      `${[head, body].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.`;
    const [head, body, signature] = service.admin.token.split('.') as [string, string, string];
    const forged = Buffer.from(JSON.stringify({ ...claims, exp: 9e9 })).toString('base64url');
    const tokens = [
      unsigned({ alg: 'none', typ: 'JWT' }, claims),
      unsigned({ alg: 'nOnE' }, claims),
      unsigned({ alg: 'HS256' }, claims),
      unsigned({}, null),
      unsigned(null, claims),
      jwt.sign(claims, 'another secret'),
      jwt.sign(claims, TEST_SECRET, { algorithm: 'HS512' }),
      jwt.sign({ ...claims, iss: 'other' }, TEST_SECRET),
      jwt.sign({ ...claims, exp: 1 }, TEST_SECRET),
      jwt.sign({ ...claims, scope: 'password-reset' }, TEST_SECRET),
      jwt.sign({ ...claims, scope: 'invite' }, TEST_SECRET),
      jwt.sign({ ...claims, nbf: 9e9 }, TEST_SECRET),
      jwt.sign({ id: claims.id, iss: 'service' }, TEST_SECRET),
      jwt.sign({ ...claims, admin_access: 'true' }, TEST_SECRET),
      `${head}.${forged}.${signature}`,
      `${head}.${body}.`,
      `${head}.${body}`,
      `${service.admin.token}x`,
      `x${service.admin.token}`,
      'null',
      'undefined',
      '__proto__',
      '**********',
      'a'.repeat(8000),
      '%00',
      '...',
      '.',
    ];
    for (const token of tokens) {
      const reply = await send('GET', '/users/me', token);
      expect(reply.status, token.slice(0, 80)).to.be.oneOf([401, 403]);
      expect(reply.body.data).to.equal(undefined);
    }
  });

  it('a caller gains no permissions by using a token after its user was suspended or deleted', async () => {
    const me = await createUserWithPermissions(service, [{ collection: 'child', action: 'read' }]);
    await requestAsAdmin(service, 'PATCH', `/users/${me.id}`, {
      email: 'leaving@example.com',
      password: 'once upon a time',
    });
    const { data } = (
      await send('POST', '/auth/login', null, { email: 'leaving@example.com', password: 'once upon a time' })
    ).body;
    expect(await statusOf('GET', '/items/child', me.token)).to.equal(200);
    expect(await statusOf('GET', '/items/child', data.access_token)).to.equal(200);
    expect(await statusOf('GET', `/items/child?access_token=${service.admin.token}`, me.token)).to.equal(200);
    expect((await send('GET', `/users/me?access_token=${service.admin.token}`, me.token)).body.data.id).to.equal(me.id);
    await requestAsAdmin(service, 'PATCH', `/users/${me.id}`, { status: 'suspended' });
    expect(await statusOf('GET', '/items/child', me.token)).to.equal(401);
    expect(await statusOf('GET', '/items/child', data.access_token)).to.equal(401);
    expect(await statusOf('POST', '/auth/refresh', null, { refresh_token: data.refresh_token })).to.equal(401);
    await requestAsAdmin(service, 'DELETE', `/users/${me.id}`);
    expect(await statusOf('GET', '/items/child', me.token)).to.equal(401);
    expect(await statusOf('GET', '/items/child', data.access_token)).to.equal(401);
  });

  it('a caller gains no permissions by concurrent requests: one refresh of many succeeds, and one admin always remains', async () => {
    const second = await requestAsAdmin(service, 'POST', '/users', {
      email: 'second@example.com',
      password: 'second to none',
      role: admin.role,
    });
    const login = await send('POST', '/auth/login', null, { email: 'second@example.com', password: 'second to none' });
    const { refresh_token } = login.body.data;
    const refreshes = await Promise.all(
      Array.from({ length: 10 }, () => statusOf('POST', '/auth/refresh', null, { refresh_token })),
    );
    expect(refreshes.filter((status) => status === 200)).to.have.length(1);
    for (const body of [{ status: 'suspended' }, { role: null }, { status: 'archived', role: null }]) {
      await database.query("update platform_users set status = 'active', role = $1 where id = any($2)", [
        admin.role,
        [admin.id, second.id],
      ]);
      const tokens = [service.admin.token, login.body.data.access_token];
      await Promise.all(
        [admin.id, second.id, admin.id, second.id].map((id, at) => send('PATCH', `/users/${id}`, tokens[at % 2], body)),
      );
      const [left] = await database.query<{ n: number }>(
        "select count(*)::int as n from platform_users where status = 'active' and role = $1",
        [admin.role],
      );
      expect(left?.n, JSON.stringify(body)).to.be.greaterThan(0);
    }
    await database.query("update platform_users set status = 'active', role = $1 where id = any($2)", [
      admin.role,
      [admin.id, second.id],
    ]);
  });

  it('a caller gains no permissions by an IP address that the role does not allow', async () => {
    const me = await createUserWithPermissions(service, [{ collection: 'child', action: 'read' }], {
      ip_access: ['10.1.2.3'],
    });
    for (const headers of [
      {},
      { 'x-forwarded-for': '10.1.2.3' },
      { 'x-real-ip': '10.1.2.3' },
      { forwarded: 'for=10.1.2.3' },
    ]) {
      expect(await statusOf('GET', '/items/child', me.token, undefined, headers)).to.equal(401);
    }
  });
});
