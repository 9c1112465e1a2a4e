import { request as ask } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { type InProcessService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

describe('/graphql: a client that disconnects', function () {
  this.timeout(120_000);
  let service: InProcessService;
  before(async () => {
    service = await startService({ env: { LOG_LEVEL: 'trace' } });
    await service.database.query(`create table thing (id serial primary key, name text);
      insert into thing (name) select n::text from generate_series(1, 100) n;
      create view slow as select id, pg_sleep(120)::text as name from thing;
      create table waiting (id serial primary key, name text);
      create function wait() returns trigger language plpgsql as $$ begin perform pg_sleep(0.5); return new; end $$;
      create trigger waits before insert on waiting for each row execute function wait()`);
  });
  after(() => service?.stop());

  const running = async (): Promise<number> => {
    const [row] = await service.database.query(
      `select count(*) from pg_stat_activity where application_name = 'tenon' and datname = current_database()
        and state <> 'idle' and wait_event = 'PgSleep'`,
    );
    return Number(row?.count);
  };
  async function leave(query: string, from: () => Promise<boolean>): Promise<void> {
    const sent = ask(`${service.url}/graphql`, {
      method: 'POST',
      agent: false,
      headers: { authorization: `Bearer ${service.admin.token}`, 'content-type': 'application/json' },
    });
    sent.on('error', () => {});
    sent.end(JSON.stringify({ query }));
    await until(from);
    sent.destroy();
  }

  for (const [what, query] of [
    ['a list', '{ slow { name } }'],
    ['a long list', '{ slow(limit: -1) { name } }'],
    ['all of several fields', `{ ${Array.from({ length: 50 }, (_, at) => `s${at}: slow { name }`).join(' ')} }`],
  ] as const)
    it(`cancels ${what}, by POST as well`, async () => {
      await leave(query, async () => (await running()) > 0);
      // The other fields of the cancelled document start no further statement.
      for (let round = 0; round < 20; round++) await until(async () => (await running()) === 0);
      await pause(300);
      expect(await running()).to.equal(0);
    });

  it('rolls back a write that is not committed, and the writes after it do not run', async () => {
    const count = async () => (await service.database.query('select 1 from waiting')).length;
    await leave(
      'mutation { a: create_waiting_item(data: { name: "a" }) { id } b: create_waiting_item(data: { name: "b" }) { id } }',
      async () => (await running()) > 0,
    );
    await until(async () => (await running()) === 0);
    await pause(300);
    expect([await running(), await count()]).to.deep.equal([0, 0]);
  });

  it('a disconnect is not logged as an error of the service', async () => {
    await until(async () => service.log.some(({ msg, path }) => msg === 'request' && path === '/graphql'));
    expect(service.log.filter(({ level }) => Number(level) >= 50)).to.deep.equal([]);
    const line = service.log.find(({ msg, path }) => msg === 'request' && path === '/graphql');
    expect(line?.status).to.equal(499);
  });
});
