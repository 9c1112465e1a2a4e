import { expect } from 'chai';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';

const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const andNested = (levels: number): string => `${'{"_and":['.repeat(levels)}{"id":1}${']}'.repeat(levels)}`;

describe('bad input is answered with a clear error and loses nothing', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  before(async () => {
    database = await createMigratedDatabase('bad_input');
    await database.query(`create table thing (id serial primary key, name varchar(5) not null, age int, tag uuid, day date,
      data jsonb, unique (name)); insert into thing (name, age) values ('one', 1), ('two', 2)`);
    service = await startService({ database, env: { QUERY_LIMIT_MAX: '50' } });
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  const ids = async () =>
    (await database.query<{ id: number }>('select id from thing order by id')).map((row) => row.id);
  const send = (method: string, path: string, body?: unknown) =>
    service.request(method, path, { token: service.admin.token, body });

  for (const path of ['/items/thing/1', '/users/me'])
    it(`PATCH ${path} with an object as key answers 400, whatever its toString is`, async () => {
      for (const id of [{}, { toString: 1 }, [{ toString: 'x' }]]) {
        const { status, body } = await send('PATCH', path, { id });
        expect([status, body.errors?.[0].extensions.code], JSON.stringify(id)).to.deep.equal([400, 'INVALID_PAYLOAD']);
      }
    });

  const QUERIES: readonly [query: string, status: number, code: string][] = [
    ['limit=-2', 400, 'INVALID_QUERY'],
    ['limit=abc', 400, 'INVALID_QUERY'],
    ['limit=51', 400, 'INVALID_QUERY'],
    ['page=-1', 400, 'INVALID_QUERY'],
    ['offset=-1', 400, 'INVALID_QUERY'],
    ['filter=nonsense', 400, 'INVALID_QUERY'],
    ['filter[name][_lt]=a', 400, 'INVALID_QUERY'],
    ['filter[age][_contains]=a', 400, 'INVALID_QUERY'],
    ['filter[age][_eq]=a', 400, 'INVALID_QUERY'],
    ['filter[tag][_eq]=a', 400, 'INVALID_QUERY'],
    ['filter[day][_eq]=2020-99-99', 400, 'INVALID_QUERY'],
    ['filter[name][_nonsense]=a', 400, 'INVALID_QUERY'],
    ['filter[name][_eq]=a%00b', 400, 'INVALID_QUERY'],
    ['search=a%00b', 400, 'INVALID_QUERY'],
    ['fields=a%00b', 400, 'INVALID_QUERY'],
    ['filter[unknown][_eq]=a', 403, 'FORBIDDEN'],
    ['sort=unknown', 403, 'FORBIDDEN'],
    ['meta=nonsense', 400, 'INVALID_QUERY'],
    ['deep[thing]=1', 400, 'INVALID_QUERY'],
    ['aggregate[median]=id', 400, 'INVALID_QUERY'],
    [`filter=${encodeURIComponent(andNested(600))}`, 400, 'INVALID_QUERY'],
    [`filter${'[_and][0]'.repeat(300)}[id]=1`, 400, 'INVALID_QUERY'],
    [Array.from({ length: 2000 }, (_, at) => `a${at}=1`).join('&'), 400, 'INVALID_QUERY'],
  ];
  for (const [query, status, code] of QUERIES) {
    it(`GET ?${query.slice(0, 60)} answers ${status} ${code}`, async () => {
      const reply = await send('GET', `/items/thing?${query}`);
      expect([reply.status, reply.body.errors?.[0].extensions.code]).to.deep.equal([status, code]);
    });
  }

  const BODIES: readonly [what: string, method: string, path: string, body: unknown, status: number, code: string][] = [
    ['malformed JSON', 'POST', '/items/thing', '{"name": ', 400, 'INVALID_PAYLOAD'],
    ['a bare number', 'POST', '/items/thing', '5', 400, 'INVALID_PAYLOAD'],
    ['no body', 'POST', '/items/thing', undefined, 400, 'INVALID_PAYLOAD'],
    ['a list with a number', 'POST', '/items/thing', [{ name: 'a' }, 5], 400, 'INVALID_PAYLOAD'],
    ['an unknown field', 'POST', '/items/thing', { name: 'a', unknown: 1 }, 400, 'INVALID_PAYLOAD'],
    ['__proto__', 'POST', '/items/thing', '{"name":"a","__proto__":{"admin":true}}', 400, 'INVALID_PAYLOAD'],
    ['a NUL character', 'POST', '/items/thing', { name: 'a\0b' }, 400, 'INVALID_PAYLOAD'],
    ['600 levels', 'POST', '/items/thing', `{"name":"a","data":${nested(600)}}`, 400, 'INVALID_PAYLOAD'],
    ['a missing required field', 'POST', '/items/thing', { age: 1 }, 400, 'FAILED_VALIDATION'],
    ['null where none is allowed', 'POST', '/items/thing', { name: null }, 400, 'FAILED_VALIDATION'],
    ['text in a number', 'POST', '/items/thing', { name: 'a', age: 'many' }, 400, 'INVALID_PAYLOAD'],
    ['an object in a text', 'POST', '/items/thing', { name: { a: 1 } }, 400, 'INVALID_PAYLOAD'],
    ['a number out of range', 'POST', '/items/thing', { name: 'a', age: 3_000_000_000 }, 400, 'VALUE_OUT_OF_RANGE'],
    ['a text too long', 'POST', '/items/thing', { name: 'abcdefgh' }, 400, 'VALUE_TOO_LONG'],
    ['a duplicate value', 'POST', '/items/thing', { name: 'one' }, 400, 'RECORD_NOT_UNIQUE'],
    ['a wrong uuid', 'POST', '/items/thing', { name: 'a', tag: '1' }, 400, 'INVALID_PAYLOAD'],
    ['a wrong date', 'POST', '/items/thing', { name: 'a', day: 'soon' }, 400, 'INVALID_PAYLOAD'],
    ['one bad row among good ones', 'POST', '/items/thing', [{ name: 'a' }, { name: 'one' }], 400, 'RECORD_NOT_UNIQUE'],
    ['neither keys nor query', 'PATCH', '/items/thing', { data: { age: 9 } }, 400, 'INVALID_PAYLOAD'],
    ['keys and query', 'PATCH', '/items/thing', { keys: [1], query: {}, data: { age: 9 } }, 400, 'INVALID_PAYLOAD'],
    ['an element without key', 'PATCH', '/items/thing', [{ age: 9 }], 400, 'INVALID_PAYLOAD'],
    ['a key of the wrong type', 'PATCH', '/items/thing', { keys: ['x'], data: { age: 9 } }, 403, 'FORBIDDEN'],
    ['a key of the wrong type in the path', 'PATCH', '/items/thing/x', { age: 9 }, 403, 'FORBIDDEN'],
    ['a key that is an object', 'DELETE', '/items/thing', [{ id: 1 }], 400, 'INVALID_PAYLOAD'],
    [
      '10,000 unknown keys',
      'PATCH',
      '/items/thing',
      { keys: Array.from({ length: 10_000 }, (_, at) => at + 100), data: { age: 9 } },
      403,
      'FORBIDDEN',
    ],
    [
      '10,000 fields',
      'POST',
      '/items/thing',
      Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`f${at}`, at])),
      400,
      'INVALID_PAYLOAD',
    ],
    ['a filter by an unknown field', 'DELETE', '/items/thing', { query: { filter: { unknown: 1 } } }, 403, 'FORBIDDEN'],
    ['SEARCH without a body', 'SEARCH', '/items/thing', undefined, 400, 'INVALID_PAYLOAD'],
    [
      'a body over the limit',
      'POST',
      '/items/thing',
      { name: 'a', data: 'x'.repeat(2_000_000) },
      413,
      'CONTENT_TOO_LARGE',
    ],
    ['a system collection', 'GET', '/items/platform_users', undefined, 403, 'FORBIDDEN'],
    ['an unknown collection', 'GET', '/items/unknown', undefined, 404, 'ROUTE_NOT_FOUND'],
    ['an unknown route', 'GET', '/nowhere', undefined, 404, 'ROUTE_NOT_FOUND'],
    ['a broken path', 'GET', '/items/%E0%A4%A', undefined, 400, 'INVALID_PATH_PARAMETER'],
  ];
  for (const [what, method, path, body, status, code] of BODIES) {
    it(`${method} ${path} with ${what} answers ${status} ${code}`, async () => {
      const reply = await send(method, path, body);
      expect([reply.status, reply.body?.errors?.[0].extensions.code]).to.deep.equal([status, code]);
      expect(reply.body.errors[0].message).to.be.a('string').that.is.not.empty;
      expect(await ids()).to.deep.equal([1, 2]);
    });
  }

  it('the query parser sets nothing from __proto__ in a query string', async () => {
    const { status, body } = await send('GET', '/items/thing?filter[__proto__][_eq]=a&__proto__[limit]=1&fields=id');
    expect([status, body.data]).to.deep.equal([200, [{ id: 1 }, { id: 2 }]]);
    const json = await send('GET', `/items/thing?filter=${encodeURIComponent('{"__proto__":{"_eq":1}}')}`);
    expect([json.status, json.body.errors[0].extensions.code]).to.deep.equal([400, 'INVALID_QUERY']);
  });

  it('the error of a bad filter names the field and its path', async () => {
    const { body } = await send('POST', '/items/thing', { name: 'abcdefgh' });
    expect(body.errors[0].extensions).to.include({ collection: 'thing', field: 'name' });
    const query = await send('GET', '/items/thing?filter[age][_eq]=a');
    expect(query.body.errors[0].extensions.path).to.deep.equal(['filter', 'age', '_eq']);
  });

  // Runs last: a request above that had changed a prototype, a row or the state of a connection would show in this answer.
  it('GET /items answers the stored rows unchanged after every bad request of this file', async () => {
    const { status, body } = await send('GET', '/items/thing?fields=id');
    expect([status, body.data]).to.deep.equal([200, [{ id: 1 }, { id: 2 }]]);
  });
});
