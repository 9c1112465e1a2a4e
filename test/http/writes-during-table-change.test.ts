import { expect } from 'chai';
import pg from 'pg';
import { type InProcessService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

describe('a write whose table changes while it waits for a lock', () => {
  let service: InProcessService;
  let other: pg.Client;
  before(async () => {
    service = await startService();
    await service.database.query(`
      create table thing (id serial primary key, name text, extra text);
      insert into thing (name) values ('one'), ('two')`);
    other = new pg.Client({ connectionString: service.database.url });
    await other.connect();
  });
  after(async () => {
    await other?.end();
    await service?.stop();
  });

  /** Runs `change` in a transaction, sends the write, and commits once the service waits for the lock on the table. */
  async function during(change: string, write: () => ReturnType<InProcessService['request']>) {
    const warm = await service.request('GET', '/items/thing', { token: service.admin.token });
    expect(warm.status).to.equal(200);
    await other.query('begin');
    await other.query(change);
    const answer = write();
    const waiting = `select 1 from pg_locks where not granted and relation = 'thing'::regclass`;
    while ((await service.database.query(waiting)).length === 0);
    await other.query('commit');
    return answer;
  }
  const send = (method: string, path: string, body?: unknown) => () =>
    service.request(method, path, { token: service.admin.token, body });

  beforeEach(async () => {
    await service.database.query('alter table thing add column if not exists extra text');
  });

  for (const [method, path, body] of [
    ['POST', '/items/thing', { name: 'three' }],
    ['POST', '/items/thing', [{ name: 'four' }, { name: 'five', extra: null }]],
    ['PATCH', '/items/thing/1', { name: 'changed' }],
    ['PATCH', '/items/thing', { keys: [1, 2], data: { name: 'both' } }],
  ] as const) {
    it(`${method} ${path} ${JSON.stringify(body)} is answered by the changed table`, async () => {
      const { status, body: answer } = await during('alter table thing drop column extra', send(method, path, body));
      const hasExtra = JSON.stringify(body).includes('extra');
      expect(status, JSON.stringify(answer)).to.equal(hasExtra ? 400 : 200);
      if (!hasExtra) expect([answer.data].flat()[0]).to.not.have.property('extra');
      const written = await service.database.query(`select 1 from thing where name = 'five'`);
      expect(written).to.have.length(0);
    });
  }

  it('DELETE succeeds on a table that got another column', async () => {
    const { status } = await during('alter table thing add column late text', send('DELETE', '/items/thing/2'));
    expect(status).to.equal(204);
    expect(await service.database.query('select 1 from thing where id = 2')).to.have.length(0);
  });

  it('an error of a missing column in a trigger is answered at once: a schema refresh would not help', async () => {
    await service.database.query(`
      create function broken() returns trigger language plpgsql as $$ begin perform nothing from thing; return new; end $$;
      create trigger broken before insert on thing for each row execute function broken()`);
    const post = () =>
      service.request('POST', '/items/thing', { token: service.admin.token, body: { name: 'refused' } });
    // Until the service knows the table with its trigger, the table counts as being changed.
    await until(async () => (await post()).status !== 503);
    expect((await post()).status).to.equal(500);
  });
});
