import { request as ask } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { type InProcess, startService } from '../support/service.ts';

describe('a client that goes away', () => {
  let database: FreshDatabase;
  let service: InProcess;
  before(async () => {
    database = await freshDatabase('cancel');
    await database.query('create table thing (id serial primary key, name text)');
    await database.query(`insert into thing (name) values ('a'), ('b')`);
    await database.query('create view slow as select id, pg_sleep(120)::text as waited from thing');
    await database.query(`create function wait() returns trigger language plpgsql as
      $$ begin perform pg_sleep(1); return new; end $$`);
    await database.query('create table waiting (id serial primary key, name text)');
    await database.query('create trigger waits before insert on waiting for each row execute function wait()');
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

  async function until(done: () => Promise<boolean> | boolean, within = 30_000): Promise<void> {
    for (const end = Date.now() + within; !(await done()); await pause(10))
      if (Date.now() > end) throw new Error('it did not come to pass in time');
  }

  /** Sends a request and hangs up as soon as the database works on it. */
  async function leave(method: string, path: string, body?: object): Promise<void> {
    const sent = ask(service.url + path, {
      method,
      agent: false,
      headers: { authorization: `Bearer ${service.admin.token}`, 'content-type': 'application/json' },
    });
    sent.on('error', () => {});
    sent.end(body && JSON.stringify(body));
    await until(async () => (await running()) === 1);
    sent.destroy();
  }

  for (const [what, method, path, body] of [
    ['a read', 'GET', '/items/slow', undefined],
    ['a long read', 'GET', '/items/slow?limit=-1', undefined],
    ['a SEARCH', 'SEARCH', '/items/slow', { query: { limit: 5 } }],
    ['an export', 'GET', '/items/slow?export=csv', undefined],
  ] as const) {
    it(`takes ${what} along`, async () => {
      await leave(method, path, body);
      await until(async () => (await running()) === 0);
    });
  }

  it('leaves connections behind on which nothing else is cancelled', async () => {
    for (let round = 0; round < 10; round++) {
      await leave('GET', '/items/slow');
      // Both connections of the pool are used at once, the one just given back among them.
      const answers = await Promise.all(
        [1, 2].map(() => service.request('GET', '/items/thing', { token: service.admin.token })),
      );
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200]);
    }
    await until(async () => (await running()) === 0);
  });

  it('is no failure of the service', () => {
    expect(service.log.filter(({ level }) => Number(level) >= 50)).to.deep.equal([]);
    const line = service.log.find(({ msg, path }) => msg === 'request' && path === '/items/slow');
    expect(line?.status).to.equal(499);
  });

  it('does not take a write along', async () => {
    await leave('POST', '/items/waiting', { name: 'kept' });
    await until(async () => (await database.query('select 1 from waiting')).length === 1);
  });
});
