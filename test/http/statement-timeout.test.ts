import { expect } from 'chai';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

describe('DB_STATEMENT_TIMEOUT and WRITE_TIMEOUT', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  before(async () => {
    database = await createMigratedDatabase('slow');
    await database.query('create table thing (id serial primary key, name text)');
    await database.query(`insert into thing (name) select 'n' || n from generate_series(1, 3) n`);
    await database.query('create view slow as select id, name, pg_sleep(60)::text as waited from thing');
    // Altering the column validates the check constraint on all three rows again, which takes 1 s for each.
    await database.query(`create function slowly() returns int language plpgsql volatile as
      $$ begin perform pg_sleep(1); return 1; end $$`);
    await database.query('create table big (id serial primary key, name varchar(50))');
    await database.query(`insert into big (name) select 'n' || n from generate_series(1, 3) n`);
    await database.query("alter table big add constraint checked check (slowly() = 1 and name <> '')");
    await database.query('create table parent (id serial primary key, name text)');
    await database.query('create table slow_row (id serial primary key, name text, parent int references parent)');
    await database.query(`create function doze() returns trigger language plpgsql as
      $$ begin perform pg_sleep(0.4); return new; end $$`);
    await database.query(
      'create trigger dozes before insert or update on slow_row for each row execute function doze()',
    );
    service = await startService({ database, env: { DB_STATEMENT_TIMEOUT: '2s', WRITE_TIMEOUT: '1s' } });
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  it('a statement over DB_STATEMENT_TIMEOUT is answered 503 SERVICE_UNAVAILABLE, and the next request succeeds', async () => {
    const started = Date.now();
    const { status, body } = await service.request('GET', '/items/slow', { token: service.admin.token });
    expect([status, body.errors[0].extensions.code]).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
    expect(Date.now() - started).to.be.below(40_000);
    expect((await service.request('GET', '/items/thing', { token: service.admin.token })).status).to.equal(200);
  });

  for (const [what, body] of [
    ['one statement', Array.from({ length: 8 }, () => ({ name: 'new' }))],
    ['several statements', Array.from({ length: 8 }, () => ({ name: 'new', parent: { name: 'p' } }))],
  ] as const) {
    it(`a write of ${what} over WRITE_TIMEOUT is answered 503, and nothing of it is written`, async () => {
      const { status, body: answer } = await service.request('POST', '/items/slow_row', {
        token: service.admin.token,
        body,
      });
      expect([status, answer.errors[0].extensions.code]).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
      expect(answer.errors[0].message).to.match(/longer than 1000 ms.*nothing of it was written/);
      expect(await database.query('select 1 from slow_row union all select 1 from parent')).to.deep.equal([]);
      const one = await service.request('POST', '/items/slow_row', { token: service.admin.token, body: { name: 'a' } });
      expect(one.status).to.equal(200);
      await database.query('delete from slow_row');
    });
  }

  it('a service starts although reading the schema takes longer than DB_STATEMENT_TIMEOUT', async () => {
    const locked = database.query(
      'do $$ begin lock table platform_relations in access exclusive mode; perform pg_sleep(6); end $$',
    );
    await until(async () => {
      const locks = `select from pg_locks where mode = 'AccessExclusiveLock' and granted and relation = 'platform_relations'::regclass`;
      return (await database.query(locks)).length > 0;
    });
    const second = await startService({ database, env: { DB_STATEMENT_TIMEOUT: '1s' } });
    await locked;
    await second.stop();
  });

  it('a change of a field may take longer than DB_STATEMENT_TIMEOUT', async () => {
    const started = Date.now();
    const { status, body } = await service.request('PATCH', '/fields/big/name', {
      token: service.admin.token,
      body: { type: 'string', schema: { max_length: 20 } },
    });
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(Date.now() - started).to.be.above(2900);
  });
});
