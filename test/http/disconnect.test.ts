import { request as ask } from 'node:http';
import { expect } from 'chai';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

describe('a client that disconnects', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  before(async () => {
    database = await createMigratedDatabase('cancel');
    await database.query('create table thing (id serial primary key, name text)');
    await database.query(`insert into thing (name) values ('a'), ('b')`);
    await database.query('create view slow as select id, pg_sleep(120)::text as waited from thing');
    await database.query(`create function wait() returns trigger language plpgsql as
      $$ begin perform pg_sleep(120); return new; end $$`);
    await database.query(`create table waiting (id serial primary key, name text)`);
    await database.query('create table holder (id serial primary key, name text, waiting int references waiting)');
    await database.query(`insert into waiting (name) values ('a'), ('b')`);
    await database.query(
      'create trigger waits before insert or update or delete on waiting for each row execute function wait()',
    );
    // This deferred trigger runs during the commit, which the service does not cancel any more.
    await database.query(`create function wait_shortly() returns trigger language plpgsql as
      $$ begin perform pg_sleep(1); return new; end $$`);
    await database.query(`create table late (id serial primary key, name text, thing int references thing);
      create constraint trigger waits after insert on late deferrable initially deferred for each row execute function wait_shortly()`);
    service = await startService({ database, env: { DB_POOL_MAX: '2', LOG_LEVEL: 'debug' } });
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  const running = async () => {
    const [row] = await database.query<{ count: string }>(
      `select count(*) from pg_stat_activity where application_name = 'tenon' and datname = current_database()
        and state <> 'idle' and wait_event = 'PgSleep'`,
    );
    return Number(row?.count);
  };

  /** Sends a request, and closes its connection as soon as the database runs the statement. */
  async function leave(method: string, path: string, body?: object): Promise<void> {
    const text = body && JSON.stringify(body);
    const sent = ask(service.url + path, {
      method,
      agent: false,
      headers: {
        authorization: `Bearer ${service.admin.token}`,
        'content-type': 'application/json',
        ...(text ? { 'content-length': Buffer.byteLength(text) } : {}),
      },
    });
    sent.on('error', () => {});
    sent.end(text);
    await until(async () => (await running()) === 1);
    sent.destroy();
  }

  for (const [what, method, path, body] of [
    ['a read', 'GET', '/items/slow', undefined],
    ['a long read', 'GET', '/items/slow?limit=-1', undefined],
    ['a SEARCH', 'SEARCH', '/items/slow', { query: { limit: 5 } }],
    ['an export', 'GET', '/items/slow?export=csv', undefined],
  ] as const) {
    it(`cancels ${what}`, async () => {
      await leave(method, path, body);
      await until(async () => (await running()) === 0);
    });
  }

  it('leaves pooled connections on which no later statement is cancelled', async () => {
    for (let round = 0; round < 10; round++) {
      await leave('GET', '/items/slow');
      // Two concurrent reads use both connections of the pool, including the one that the cancelled read has returned.
      const answers = await Promise.all(
        [1, 2].map(() => service.request('GET', '/items/thing', { token: service.admin.token })),
      );
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200]);
    }
    await until(async () => (await running()) === 0);
  });

  it('is not logged as an error', () => {
    expect(service.log.filter(({ level }) => Number(level) >= 50)).to.deep.equal([]);
    const line = service.log.find(({ msg, path }) => msg === 'request' && path === '/items/slow');
    expect(line?.status).to.equal(499);
  });

  const rows = () => database.query('select id, name from waiting order by id');
  const mutation = (text: string) => ({ query: `mutation { ${text} }` });
  for (const [what, method, path, body] of [
    ['a row created', 'POST', '/items/waiting', { name: 'new' }],
    ['rows created', 'POST', '/items/waiting', [{ name: 'new' }, { name: 'newer' }]],
    ['a row with a nested one', 'POST', '/items/holder', { name: 'h', waiting: { name: 'new' } }],
    ['a row changed', 'PATCH', '/items/waiting/1', { name: 'new' }],
    ['rows changed by keys', 'PATCH', '/items/waiting', { keys: [1, 2], data: { name: 'new' } }],
    [
      'rows changed each',
      'PATCH',
      '/items/waiting',
      [
        { id: 1, name: 'x' },
        { id: 2, name: 'y' },
      ],
    ],
    ['rows changed by query', 'PATCH', '/items/waiting', { query: { filter: {} }, data: { name: 'new' } }],
    ['a row deleted', 'DELETE', '/items/waiting/1', undefined],
    ['rows deleted by keys', 'DELETE', '/items/waiting', [1, 2]],
    ['rows deleted by query', 'DELETE', '/items/waiting', { query: { filter: {} } }],
    ['a row created by GraphQL', 'POST', '/graphql', mutation('create_waiting_item(data: { name: "new" }) { id }')],
    ['rows deleted by GraphQL', 'POST', '/graphql', mutation('delete_waiting_items(ids: [1, 2]) { ids }')],
  ] as const) {
    it(`rolls back ${what} before the commit`, async () => {
      await leave(method, path, body);
      await until(async () => (await running()) === 0);
      expect(await rows()).to.deep.equal([
        { id: 1, name: 'a' },
        { id: 2, name: 'b' },
      ]);
      expect(await database.query('select * from holder')).to.deep.equal([]);
    });
  }

  it('does not stop a write whose commit has begun', async () => {
    await leave('POST', '/items/late', { name: 'kept', thing: { name: 'kept' } });
    await until(async () => (await database.query('select 1 from late')).length === 1);
  });
});
