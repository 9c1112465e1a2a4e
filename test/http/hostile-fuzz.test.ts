import { expect } from 'chai';
import { FILTER_OPERATORS } from '../../plugins/query/contract.ts';
import type { FreshDatabase } from '../support/database.ts';
import { createSeededRandom } from '../support/random.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';
import { createUserWithPermissions, requestAsAdmin } from './test-users.ts';

const { next: random, upTo, one } = createSeededRandom(4711);

const SCALARS: readonly unknown[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  2,
  1.5,
  1e308,
  -1e308,
  2 ** 53,
  2147483648,
  '',
  ' ',
  'a',
  '1',
  '-1',
  '1e400',
  'null',
  'true',
  '*',
  '*.*.*',
  'id',
  'name',
  '-name',
  'parent.name',
  'kids.parent.kids',
  'kids.*',
  'count(kids)',
  '$NOW',
  '$NOW(-1 day)',
  '$NOW(99999999999 years)',
  '$NOW(',
  '$CURRENT_USER',
  '$CURRENT_USER.role',
  '$CURRENT_ROLE',
  '%',
  '_',
  '\\',
  "'",
  '"',
  '";--',
  '💥',
  '\ud800',
  'é',
  '2020-01-01',
  '2020-99-99',
  '0001-01-01',
  '294277-01-01',
  '99999-01-01',
  'infinity',
  '-infinity',
  'NaN',
  '12:61',
  '00000000-0000-0000-0000-000000000000',
  '{"a":',
  '[]',
  '{}',
  '[[',
  '{"id":{"_eq":1}}',
  'a'.repeat(300),
  'a@b.c',
  'json',
  'cookie',
  '\u0000',
  'platform_users',
  'thing',
  '__proto__',
  'constructor',
  'a,1,2020-01-01',
];
const KEYS = [
  'id',
  'name',
  'age',
  'tag',
  'day',
  'at',
  'data',
  'list',
  'parent',
  'kids',
  'keys',
  'query',
  'filter',
  'sort',
  'fields',
  'limit',
  'offset',
  'page',
  'search',
  'meta',
  'deep',
  'alias',
  'aggregate',
  'groupBy',
  '_and',
  '_or',
  '_eq',
  '_neq',
  '_in',
  '_nin',
  '_between',
  '_nbetween',
  '_null',
  '_empty',
  '_contains',
  '_some',
  '_none',
  '_filter',
  '_limit',
  '_sort',
  'create',
  'update',
  'delete',
  'email',
  'password',
  'role',
  'status',
  'token',
  'collection',
  'action',
  'permissions',
  'validation',
  'presets',
  'admin_access',
  'ip_access',
  'refresh_token',
  'mode',
  'last_page',
  'field',
  'type',
  'schema',
  'special',
  'related_collection',
  'one_field',
  '__proto__',
  'constructor',
  'toString',
  'piece',
  '',
  'x y',
  '"',
  'é',
];

function json(depth: number): unknown {
  const kind = random();
  if (depth === 0 || kind < 0.4) return one(SCALARS);
  if (kind < 0.55) return Array.from({ length: upTo(4) }, () => json(depth - 1));
  return Object.fromEntries(Array.from({ length: 1 + upTo(4) }, () => [one(KEYS), json(depth - 1)]));
}

const FIELDS = [
  'id',
  'name',
  'age',
  'big',
  'price',
  'ratio',
  'ok',
  'tag',
  'day',
  'at',
  'plain',
  'clock',
  'data',
  'list',
  'numbers',
  'mood',
  'bytes',
  'net',
  'span',
  'parent',
  'kids',
  'piece',
];
/** A random filter with existing fields and operators, so that its values reach the database. */
const near = (depth: number): unknown => {
  const field = one(FIELDS);
  if (depth > 0 && random() < 0.3) return { [one(['_and', '_or'])]: [near(depth - 1), near(depth - 1)] };
  if (depth > 0 && (field === 'parent' || field === 'kids'))
    return { [field]: one([near(depth - 1), { _some: near(depth - 1) }, { _none: near(depth - 1) }]) };
  const operand = one([one(SCALARS), one(SCALARS), [one(SCALARS), one(SCALARS)]]);
  return { [field]: { [one(FILTER_OPERATORS)]: operand } };
};
const row = (): Record<string, unknown> => ({
  name: `n${upTo(1e9)}`,
  [one(FIELDS)]: one([one(SCALARS), json(2)]),
  [one(FIELDS)]: one(SCALARS),
});

/** A random body, often of the form that a route accepts. */
const body = (): unknown =>
  one([
    () => json(4),
    () => ({
      query: {
        filter: near(2),
        sort: [one(FIELDS), `-parent.${one(FIELDS)}`],
        fields: [one(FIELDS), `kids.${one(FIELDS)}`, '*'],
      },
    }),
    () => ({ query: { filter: near(0), limit: one([1, 5]) } }),
    () => ({ query: { search: one(SCALARS), filter: near(1), meta: '*' } }),
    () => ({ query: { filter: near(1) }, data: row() }),
    () => ({ keys: [1, 2], data: row() }),
    row,
    row,
    () => [row(), { id: 3, ...row() }],
    () => ({ query: { filter: json(4), limit: 3 } }),
    () => ({ query: { filter: { [one(KEYS)]: { [one(KEYS)]: json(2) } } } }),
    () => ({
      query: Object.fromEntries([
        [one(KEYS), json(2)],
        [one(KEYS), json(3)],
      ]),
    }),
    () => ({ keys: [one(SCALARS), one(SCALARS)], data: json(3) }),
    () => ({ keys: [1], data: { [one(KEYS)]: json(3), [one(KEYS)]: json(2) } }),
    () => ({ query: json(3), data: json(3) }),
    () => [json(3), json(2)],
    () => ({ name: 'n', [one(KEYS)]: json(3), [one(KEYS)]: json(3) }),
    () => ({
      name: 'n',
      kids: one([json(3), { create: json(3) }, { update: json(3) }, { delete: json(2) }, [json(2), json(2)]]),
      parent: json(2),
    }),
  ])();

const bracketed = (): string =>
  Array.from({ length: 1 + upTo(3) }, () => {
    const name = one([
      'fields',
      'filter',
      'sort',
      'limit',
      'offset',
      'page',
      'search',
      'meta',
      'deep',
      'alias',
      'aggregate',
      'groupBy',
      'export',
      'access_token',
      one(KEYS),
    ]);
    const inside = Array.from({ length: upTo(4) }, () => `[${one([...KEYS, '', '0', '99'])}]`).join('');
    const value = one([String(one(SCALARS)), JSON.stringify(json(3))]);
    return `${encodeURIComponent(name)}${encodeURIComponent(inside)}=${wellFormed(value)}`;
  }).join('&');

const wellFormed = (text: string): string => encodeURIComponent(text.toWellFormed());
const segment = (): string =>
  one([
    '1',
    '2',
    '99',
    '-1',
    'x',
    '%00',
    '%',
    '%ff',
    '..',
    '%2e%2e',
    '%2F',
    'me',
    'a,1,2020-01-01',
    one(['a,1', ',,', '~,~2,~01', 'a,1,infinity,', '%2C%00,1,2020-01-01']),
    `${wellFormed(String(one(SCALARS)))},${wellFormed(String(one(SCALARS)))},2020-01-01`,
    wellFormed(String(one(SCALARS))) || 'y',
  ]);

const COLLECTIONS = [
  'thing',
  'thing',
  'thing',
  'thing',
  'thing',
  'thing',
  'piece',
  'piece',
  'solo',
  'we%22ird',
  'none',
  'platform_users',
  '__proto__',
];
const ITEM_ROUTES = () => {
  const collection = one(COLLECTIONS);
  return one([
    ['GET', `/items/${collection}`],
    ['SEARCH', `/items/${collection}`],
    ['SEARCH', `/items/${collection}`],
    ['PATCH', `/items/${collection}/${1 + upTo(20)}`],
    ['SEARCH', '/items/thing'],
    ['POST', `/items/${collection}`],
    ['PATCH', `/items/${collection}`],
    ['DELETE', `/items/${collection}`],
    ['GET', `/items/${collection}/${segment()}`],
    ['PATCH', `/items/${collection}/${segment()}`],
    ['DELETE', `/items/${collection}/${segment()}`],
  ] as const);
};
const SYSTEM_ROUTES = () => {
  const path = one(['/users', '/roles', '/permissions']);
  return one([
    ['GET', path],
    ['SEARCH', path],
    ['POST', path],
    ['PATCH', path],
    ['DELETE', path],
    ['GET', `${path}/${segment()}`],
    ['PATCH', `${path}/${segment()}`],
    ['DELETE', `${path}/${segment()}`],
    ['GET', '/users/me'],
    ['PATCH', '/users/me/track/page'],
    ['POST', '/auth/login'],
    ['POST', '/auth/refresh'],
    ['POST', '/auth/logout'],
    ['GET', '/auth'],
    ['GET', '/server/info'],
    ['GET', '/server/health'],
    ['GET', '/server/ping'],
    [one(['GET', 'POST', 'DELETE', 'PATCH']), `/${segment()}/${segment()}`],
  ] as const);
};
const SCHEMA_ROUTES = () => {
  const [collection, field] = [one(COLLECTIONS), one(['id', 'name', 'parent', 'kids', segment()])];
  return one([
    ['GET', '/collections'],
    ['SEARCH', '/collections'],
    ['POST', '/collections'],
    ['PATCH', '/collections'],
    ['GET', `/collections/${collection}`],
    ['PATCH', `/collections/${collection}`],
    ['GET', `/fields/${collection}`],
    ['POST', `/fields/${collection}`],
    ['PATCH', `/fields/${collection}`],
    ['PATCH', `/fields/${collection}/${field}`],
    ['POST', '/relations'],
    ['PATCH', `/relations/${collection}/${field}`],
    ['GET', `/relations/${collection}`],
  ] as const);
};

describe('random requests', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  let user: string;
  before(async function () {
    this.timeout(120_000);
    database = await createMigratedDatabase('hostile_fuzz');
    await database.query(`
      create type mood as enum ('sad', 'happy');
      create table thing (id serial primary key, name varchar(20) unique, age int, big bigint, price numeric(8,2), ratio real, ok boolean, tag uuid, day date,
        at timestamptz, plain timestamp, clock time, data jsonb, list text[], numbers int[], mood mood, bytes bytea, net inet, span interval, parent int references thing);
      create table solo (id uuid primary key default gen_random_uuid(), name text, "at" timestamptz);
      create table "we""ird" (id text primary key, "na""me" text, parent text references "we""ird");
      create table piece (name varchar(20), age int, at timestamptz, data jsonb, parent int references thing, twin varchar(20), twin_age int,
        twin_at timestamptz, primary key (name, age, at), foreign key (twin, twin_age, twin_at) references piece);
      insert into piece (name, age, at, twin, twin_age, twin_at) select 'a', i, '2020-01-01Z', 'a', 1, '2020-01-01Z' from generate_series(1, 9) i;
      insert into thing (name, age, day, at, data) select 'thing ' || i, i, now(), now(), '{}' from generate_series(1, 20) i;
    `);
    service = await startService({ database, env: { MAX_PAYLOAD_SIZE: '1mb' } });
    await requestAsAdmin(service, 'POST', '/fields/thing', {
      field: 'kids',
      type: 'alias',
      meta: { special: ['o2m'] },
    });
    await requestAsAdmin(service, 'PATCH', '/relations/thing/parent', { meta: { one_field: 'kids' } });
    await requestAsAdmin(service, 'PATCH', '/collections/solo', { meta: { singleton: true } });
    const all = (['create', 'read', 'update', 'delete'] as const).map((action) => ({
      collection: 'thing',
      action,
      permissions: { age: { _lt: 15 } },
    }));
    user = (await createUserWithPermissions(service, all, { app_access: true })).token;
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  async function storm(count: number, route: () => readonly [string, string]): Promise<Map<number, number>> {
    const statuses = new Map<number, number>();
    const bad: string[] = [];
    const requests = Array.from({ length: count }, () => {
      const [method, path] = route();
      const url = random() < 0.2 ? `${path}?${bracketed()}` : path;
      const sent =
        method === 'GET'
          ? undefined
          : random() < 0.05
            ? one(['', '{', '[1', '"a"', 'null', '\u0000', '{"a":"\\u0000"}'])
            : body();
      return { method, url, sent, token: one([service.admin.token, service.admin.token, user, null]) };
    });
    let next = 0;
    const worker = async () => {
      for (let request = requests[next++]; request; request = requests[next++]) {
        const { method, url, sent, token } = request;
        const reply = await service.request(method, url, { token, body: sent });
        statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
        const isFine = reply.status < 500 || (reply.status === 503 && url.startsWith('/server/health'));
        const isShaped = reply.status < 400 || Array.isArray(reply.body?.errors);
        if (!isFine || !isShaped)
          bad.push(
            `${method} ${url.slice(0, 500)} ${JSON.stringify(sent)?.slice(0, 800)}: ${reply.status} ${JSON.stringify(reply.body)?.slice(0, 300)}`,
          );
      }
    };
    await Promise.all(Array.from({ length: 8 }, worker));
    expect(bad.slice(0, 8).join('\n'), `${bad.length} bad answers`).to.equal('');
    return statuses;
  }

  it('3,000 requests to /items are answered without a 500', async function () {
    this.timeout(120_000);
    const statuses = await storm(3000, ITEM_ROUTES);
    // Enough of the random requests must be valid to reach the database.
    expect(statuses.get(200)).to.be.greaterThan(150);
  });

  it('2,000 requests to users, roles, permissions, auth and server are answered without a 500', async function () {
    this.timeout(120_000);
    await storm(2000, SYSTEM_ROUTES);
  });

  it('1,000 requests to the schema routes are answered without a 500', async function () {
    this.timeout(120_000);
    await storm(1000, SCHEMA_ROUTES);
  });

  it('the process answers as before afterwards', async () => {
    expect((await service.request('GET', '/server/ping')).body).to.equal('pong');
    expect((await service.request('GET', '/items/thing?limit=1', { token: service.admin.token })).status).to.equal(200);
    expect(Object.getOwnPropertyNames(Object.prototype)).not.to.include.members([
      'a',
      'id',
      'name',
      'admin',
      'admin_access',
    ]);
  });
});
