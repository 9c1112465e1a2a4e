import { expect } from 'chai';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';
import { ReferenceReadExecutor } from './permissions/reference-reads.ts';
import {
  type CallerPermissions,
  type FieldTree,
  type ListRequest,
  type PermissionRow,
  type PermissionTestFilter,
  type PermissionTestModel,
  type PermissionTestRow,
  ReferenceRefusalError,
} from './permissions/reference-types.ts';
import { createUserWithPermissions, requestAsAdmin } from './test-users.ts';

const SENSITIVE = ['role', 'status', 'token', 'provider', 'external_identifier', 'tfa_secret', 'auth_data'];
const MODEL: PermissionTestModel = {
  users: {
    key: ['id'],
    plain: {
      first_name: 'text',
      last_name: 'text',
      email: 'text',
      location: 'text',
      status: 'text',
      provider: 'text',
      password: 'masked',
      token: 'masked',
      tfa_secret: 'masked',
    },
    manyToOne: {},
    toMany: {},
    sensitive: SENSITIVE,
  },
  post: { key: ['id'], plain: { title: 'text' }, manyToOne: { author: 'users' }, toMany: {} },
};
const OWN = ['id', 'first_name', 'last_name', 'email', 'password', 'location', 'tfa_secret', 'status', 'role'];
const PATHS = { users: '/users', post: '/items/post' } as const;

/** Read permissions on platform_users. Each is given to a role with app access and to one without. */
const READS: readonly { fields: string[]; permissions: PermissionTestFilter | null }[] = [
  { fields: ['first_name'], permissions: null },
  { fields: ['*'], permissions: null },
  { fields: ['id', 'first_name', 'token', 'email'], permissions: { location: { _eq: 'north' } } },
  { fields: ['last_name', 'location', 'status'], permissions: { first_name: { _nnull: true } } },
  { fields: ['*'], permissions: { _or: [{ location: { _null: true } }, { id: { _eq: '$CURRENT_USER' } }] } },
  { fields: [], permissions: null },
];

const FILTERS: readonly PermissionTestFilter[] = [
  { email: { _contains: 'e' } },
  { email: { _null: true } },
  { email: { _null: false } },
  { first_name: { _in: ['ann', 'bob'] } },
  { location: { _eq: 'north' } },
  { location: { _neq: 'north' } },
  { status: { _eq: 'active' } },
  { provider: { _eq: 'default' } },
  { token: { _null: false } },
  { password: { _null: true } },
  { tfa_secret: { _empty: true } },
  { id: { _eq: '$CURRENT_USER' } },
  { id: { _neq: '$CURRENT_USER' } },
  { _or: [{ email: { _starts_with: 'd' } }, { last_name: { _empty: true } }] },
  { _and: [{ first_name: { _contains: 'n' } }, { email: { _ncontains: 'x' } }] },
];
const SORTS = ['email', '-email', 'first_name', 'last_name', '-location', 'id', 'status', 'provider'];
const TERMS = ['ann', 'north', 'example', 'default', 'active', 'argon', 'secret', 'token-of'];

describe('read permissions on users with and without app access', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  let rows: Record<string, PermissionTestRow[]> = {};
  const people: { token: string; eyes: CallerPermissions; about: string }[] = [];

  before(async function () {
    this.timeout(120_000);
    database = await createMigratedDatabase('hostile_users');
    service = await startService({ database });
    await database.query(
      'create table post (id serial primary key, title text, author uuid references platform_users on delete set null)',
    );
    for (const [at, read] of READS.entries()) {
      for (const app of [true, false]) {
        const person = await createUserWithPermissions(
          service,
          [
            { collection: 'platform_users', action: 'read', ...read },
            { collection: 'post', action: 'read' },
          ],
          { app_access: app },
        );
        await requestAsAdmin(service, 'PATCH', `/users/${person.id}`, {
          first_name: ['ann', 'bob', 'cyn'][at % 3],
          last_name: at % 2 ? 'fox' : null,
          location: ['north', 'south', null][at % 3],
          email: `${'abcdef'[at]}${app ? 1 : 2}@example.com`,
        });
        const stored: PermissionRow = { fields: read.fields, rule: read.permissions };
        // The in-memory reference does not know `_nnull`, so it gets `_null: false`.
        const rule = read.permissions?.first_name ? { first_name: { _null: false } } : read.permissions;
        const minimum: PermissionRow = { fields: OWN, rule: { id: { _eq: '$CURRENT_USER' } } };
        const permissions = new Map<string, PermissionRow[]>([
          ['users read', app ? [{ ...stored, rule }, minimum] : [{ ...stored, rule }]],
          ['post read', [{ fields: ['*'], rule: null }]],
        ]);
        const eyes = { admin: false, user: person.id, role: person.role, paths: {}, permissions };
        people.push({ token: person.token, eyes, about: `${app ? 'app' : 'plain'} ${JSON.stringify(read)}` });
      }
    }
    await database.query("update platform_users set tfa_secret = 'secret' where first_name = 'bob'");
    await database.query(
      "insert into post (title, author) select 'post of ' || coalesce(first_name, '?'), id from platform_users order by id",
    );
    rows = {
      users: await database.query<PermissionTestRow>('select * from platform_users order by id'),
      post: await database.query<PermissionTestRow>('select * from post order by id'),
    };
    expect(rows.users).to.have.length(READS.length * 2 + 1);
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  const FIELDS = ['id', ...Object.keys(MODEL.users?.plain ?? {})];
  const nested: FieldTree = Object.fromEntries(FIELDS.map((name) => [name, true]));

  const compare = async (name: 'users' | 'post', request: ListRequest, query: Record<string, unknown>) => {
    for (const { token, eyes, about } of people) {
      const label = `${about} ${name} ${JSON.stringify(query)}`;
      const reply = await service.request('SEARCH', PATHS[name], {
        token,
        body: { query: { limit: -1, meta: '*', ...query } },
      });
      let expected: ReturnType<ReferenceReadExecutor['list']> | undefined;
      try {
        expected = new ReferenceReadExecutor(MODEL, rows, eyes).list(name, request);
      } catch (error) {
        if (!(error instanceof ReferenceRefusalError)) throw error;
      }
      if (!expected)
        expect([reply.status, reply.body.errors?.[0].extensions.code], label).to.deep.equal([403, 'FORBIDDEN']);
      else {
        expect(reply.status, `${label} ${JSON.stringify(reply.body)}`).to.equal(200);
        const { data, total, filtered } = expected;
        expect(reply.body, label).to.deep.equal({ data, meta: { total_count: total, filter_count: filtered } });
      }
    }
  };

  it('lists and relations show each field on the rows of its permission', async () => {
    await compare('users', { fields: nested }, { fields: FIELDS });
    const author = { fields: { title: true, author: nested } as const };
    await compare('post', author, { fields: ['title', ...FIELDS.map((field) => `author.${field}`)] });
  });

  it('filters see each field on the rows of its permission, also through a relation', async () => {
    for (const filter of FILTERS) {
      await compare('users', { fields: { first_name: true }, filter }, { fields: 'first_name', filter });
      const through = { author: filter };
      await compare('post', { fields: { title: true }, filter: through }, { fields: 'title', filter: through });
    }
  });

  it('sorting sees each field on the rows of its permission, also through a relation', async () => {
    for (const sort of SORTS) {
      await compare('users', { fields: { first_name: true }, sort }, { fields: 'first_name', sort });
      const through = sort.startsWith('-') ? `-author.${sort.slice(1)}` : `author.${sort}`;
      await compare('post', { fields: { title: true }, sort: through }, { fields: 'title', sort: through });
    }
  });

  it('search sees each field on the rows of its permission and never a concealed one', async () => {
    for (const search of TERMS)
      await compare('users', { fields: { first_name: true }, search }, { fields: 'first_name', search });
  });

  it('concealed fields show only whether they are set, also to admins', async () => {
    const { token } = service.admin;
    for (const field of ['password', 'token', 'tfa_secret', 'external_identifier']) {
      for (const operator of ['_eq', '_neq', '_contains', '_starts_with', '_in', '_gt', '_ieq']) {
        const reply = await service.request('GET', `/users?filter[${field}][${operator}]=a`, { token });
        expect([field, operator, reply.status]).to.deep.equal([field, operator, 400]);
      }
      expect((await service.request('GET', `/users?sort=${field}`, { token })).status).to.equal(403);
      expect((await service.request('GET', `/items/post?sort=author.${field}`, { token })).status).to.equal(403);
      const queries = [`fields=${field}`, `fields=x&alias[x]=${field}`, 'fields=*'];
      for (const query of queries) {
        const { body } = await service.request('GET', `/users?${query}&limit=-1`, { token });
        expect(JSON.stringify(body)).not.to.match(/argon|"secret"|[0-9a-f]{32}"/);
      }
      const { body } = await service.request(
        'GET',
        `/items/post?fields=author.x&deep[author][_alias][x]=${field}&limit=-1`,
        { token },
      );
      expect(JSON.stringify(body)).not.to.match(/argon|"secret"|[0-9a-f]{32}"/);
    }
    const found = await service.request('GET', '/users?search=argon2id', { token });
    expect(found.body.data).to.deep.equal([]);
  });
});
