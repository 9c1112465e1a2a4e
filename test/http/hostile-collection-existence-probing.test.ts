import { expect } from 'chai';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';
import { createUserWithPermissions, requestAsAdmin } from './test-users.ts';

/** A table, a singleton, a view and a table without a key, none of which the callers may read or write. */
const HIDDEN = ['hidden', 'hidden_single', 'hidden_view', 'hidden_keyless'];
const ABSENT = 'absent';

describe('a caller without permissions on a collection gets the same answer whether or not it exists', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  const tokens: Record<string, string | null> = { withoutToken: null };
  before(async function () {
    this.timeout(120_000);
    database = await createMigratedDatabase('hostile_existence');
    await database.query(`
      create table hidden (id serial primary key, name text, up int references hidden);
      insert into hidden (name) values ('one');
      create table hidden_single (id serial primary key, name text);
      create view hidden_view as select * from hidden;
      create table hidden_keyless (name text);
      create table open (id serial primary key, name text)`);
    service = await startService({ database, env: { MAX_BATCH_MUTATION: '3' } });
    await requestAsAdmin(service, 'PATCH', '/collections/hidden_single', { meta: { singleton: true } });
    const person = await createUserWithPermissions(service, [{ collection: 'open', action: 'read' }], {
      app_access: true,
    });
    tokens.withoutPermissions = person.token;
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  const REQUESTS: readonly [method: string, path: string, body?: unknown][] = [
    ['GET', ''],
    ['GET', '?fields=((('],
    ['GET', '?limit=x'],
    ['GET', '?export=csv'],
    ['GET', '?export=nothing'],
    ['GET', '/1'],
    ['GET', '/x?fields=((('],
    ['HEAD', ''],
    ['SEARCH', '', {}],
    ['SEARCH', '', { keys: [1] }],
    ['SEARCH', '', { keys: [1], query: { limit: 'x' } }],
    ['SEARCH', '', { query: { export: 'xml', filter: { nope: 1 } } }],
    ['POST', '', {}],
    ['POST', '', []],
    ['POST', '', [{}, { name: 1 }]],
    ['POST', '', { name: { create: 1 }, nope: 1 }],
    ['POST', '?fields=(((', {}],
    ['POST', '?deep[up][_limit]=x&fields=up.name', {}],
    ['POST', '', [{}, {}, {}, {}]],
    ['PATCH', '', {}],
    ['PATCH', '', []],
    ['PATCH', '', [{}]],
    ['PATCH', '', [{ id: 1, name: 'x' }]],
    ['PATCH', '', [{ id: 'x' }]],
    ['PATCH', '', { keys: [], data: {} }],
    ['PATCH', '', { keys: [1], data: { name: 'x' } }],
    ['PATCH', '', { keys: [1, 2, 3, 4], data: {} }],
    ['PATCH', '', { keys: [1], data: { nope: 1 } }],
    ['PATCH', '', { query: { limit: 'x' }, data: {} }],
    ['PATCH', '', { query: { filter: { name: { _eq: 1 } } }, data: {} }],
    ['PATCH', '?fields=(((', { keys: [1], data: {} }],
    ['PATCH', '/1', { name: 'x' }],
    ['PATCH', '/1?fields=(((', { name: 'x' }],
    ['PATCH', '/1', { up: { name: 'x' } }],
    ['DELETE', '', [1]],
    ['DELETE', '', []],
    ['DELETE', '', ['x']],
    ['DELETE', '', [1, 2, 3, 4]],
    ['DELETE', '', { keys: [1] }],
    ['DELETE', '', { query: { limit: 'x' } }],
    ['DELETE', '', { query: { filter: { id: { _eq: 1 } } } }],
    ['DELETE', '/1'],
  ];
  for (const [method, path, body] of REQUESTS) {
    it(`${method} /items/…${path} ${body === undefined ? '' : JSON.stringify(body)} answers the same for hidden and missing collections`, async () => {
      for (const [who, token] of Object.entries(tokens)) {
        const ask = async (name: string) => {
          const reply = await service.request(method, `/items/${name}${path}`, { token, body });
          return JSON.stringify([reply.status, reply.body]).replaceAll(name, '…');
        };
        const expected = await ask(ABSENT);
        for (const name of HIDDEN) expect(await ask(name), `${who}: ${name}`).to.equal(expected);
      }
      expect(await database.query('select name from hidden')).to.deep.equal([{ name: 'one' }]);
    });
  }
});
