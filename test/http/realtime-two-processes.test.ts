import { expect } from 'chai';
import { openAuthenticated, type RealtimeTestClient } from '../support/realtime-client.ts';
import { type InProcessService, type SpawnedService, spawnService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { createNotes, startRealtimeService } from './realtime-fixture.ts';

describe('subscriptions in two processes on one database', function () {
  this.timeout(60_000);
  let one: InProcessService;
  let other: InProcessService;
  let notes: ReturnType<typeof createNotes>;
  const clients: RealtimeTestClient[] = [];
  const query = { fields: ['title'] };

  /** A client of a process and the first message of its subscription, with positions. */
  async function subscribe(service: InProcessService, message: Record<string, unknown> = {}) {
    const client = await openAuthenticated(service.url, service.admin.token);
    clients.push(client);
    const init = await client.ask({
      type: 'subscribe',
      uid: 's',
      collection: 'note',
      query,
      positions: true,
      ...message,
    });
    return { client, init };
  }
  const created = (client: RealtimeTestClient, title: string) =>
    client.next(({ event, data }) => event === 'create' && data.some((row: { title: string }) => row.title === title));

  before(async () => {
    one = await startRealtimeService();
    other = await startService({ database: one.database, env: { WEBSOCKETS_ENABLED: 'true' } });
    notes = createNotes(one);
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    await one.database.query('delete from note');
  });
  after(async () => {
    await other?.stop();
    await one?.stop();
  });

  it('report changes that the other process makes', async () => {
    const { client } = await subscribe(other);
    await notes.create({ title: 'a' });
    await created(client, 'a');
  });

  it('count their deliveries, and give positions that both processes know', async () => {
    const { client, init } = await subscribe(one);
    expect([init.event, init.sequence, typeof init.position]).to.deep.equal(['init', 1, 'string']);
    await notes.create({ title: 'a' });
    const { sequence, position } = await created(client, 'a');
    expect(sequence).to.equal(2);
    client.close();
    const late = await notes.create({ title: 'b' });
    await one.database.query(`update note set title = 'c' where id = $1`, [late.id]);
    const back = await subscribe(other, { since: position });
    expect(back.init).to.deep.equal({ type: 'subscription', event: 'init', uid: 's', position, sequence: 1 });
    expect((await back.client.next(({ event }) => event === 'create')).data).to.deep.equal([{ title: 'c' }]);
    await notes.create({ title: 'd' });
    expect((await created(back.client, 'd')).sequence).to.equal(3);
  });

  it('report deletes to a client that comes back', async () => {
    const { id } = await notes.create({ title: 'a' });
    const { init, client } = await subscribe(one);
    client.close();
    await notes.remove(id);
    const back = await subscribe(other, { since: init.position, event: 'delete' });
    expect((await back.client.next(({ event }) => event === 'delete')).data).to.deep.equal([id]);
  });

  it('read again where a position is not known', async () => {
    await notes.create({ title: 'a' });
    const { init } = await subscribe(one, { since: 'nothing' });
    expect([init.event, init.resync, init.data]).to.deep.equal(['init', true, [{ title: 'a' }]]);
    const { init: short } = await subscribe(one, { since: 'nothing', event: 'create' });
    expect([short.event, short.resync, short.data]).to.deep.equal(['init', true, undefined]);
  });

  it('read again after the connection to the database that listens was lost', async () => {
    const [first, second] = [await subscribe(one), await subscribe(other)];
    const { position } = first.init;
    await one.database.query(
      `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and classid = 1952804466 and objsubid = 2
        and database = (select oid from pg_database where datname = current_database())`,
    );
    await one.database.query(`insert into note (title) values ('missed')`);
    for (const { client } of [first, second]) {
      const again = await client.next(({ resync, data }) => resync === true && data.length === 1);
      expect(again.data).to.deep.equal([{ title: 'missed' }]);
    }
    const back = await subscribe(one, { since: position });
    expect(back.init.resync).to.equal(true);
    await notes.create({ title: 'after' });
    for (const { client } of [first, second, back]) await created(client, 'after');
  });

  it('put triggers on a table once they are needed, and back when triggers were removed', async () => {
    const triggers = async () =>
      (
        await one.database.query<{ count: string }>(
          `select count(*) as count from pg_trigger where tgname like 'platform_row_feed%' and tgrelid = 'late'::regclass`,
        )
      )[0]?.count;
    await one.database.query('create table late (id int primary key, title text)');
    await until(async () => {
      const { body } = await one.request('GET', '/collections/late', { token: one.admin.token });
      return body?.data?.collection === 'late';
    });
    expect(await triggers()).to.equal('0');
    const { client } = await subscribe(one, { collection: 'late' });
    expect(await triggers()).to.equal('4');
    await one.database.query('drop trigger platform_row_feed_insert on late');
    await until(async () => (await triggers()) === '4');
    await one.database.query(`insert into late values (1, 'x')`);
    // Part of the rows that are read again, where these are read after it.
    await client.next(({ data }) => data?.some(({ title }: { title: string }) => title === 'x'));
  });
});

describe('a process with subscriptions', function () {
  this.timeout(120_000);
  let service: InProcessService;
  let killed: SpawnedService | undefined;
  const triggers = async () =>
    Number(
      (
        await service.database.query<{ count: string }>(
          `select count(*) as count from pg_trigger where tgname like 'platform_row_feed%'`,
        )
      )[0]?.count,
    );
  before(async () => {
    service = await startRealtimeService();
  });
  after(async () => {
    await killed?.stop();
    await service?.stop();
  });

  it('that is killed leaves triggers to the next one, which removes them when it stops', async () => {
    killed = await spawnService({ database: service.database, env: { WEBSOCKETS_ENABLED: 'true' } });
    const client = await openAuthenticated(killed.url, service.admin.token);
    await client.ask({ type: 'subscribe', uid: 's', collection: 'note' });
    expect(await triggers()).to.equal(4);
    await killed.kill('SIGKILL');
    await client.closed();
    const next = await startService({ database: service.database, env: { WEBSOCKETS_ENABLED: 'true' } });
    await until(async () => (await triggers()) === 0);
    const other = await openAuthenticated(next.url, service.admin.token);
    await other.ask({ type: 'subscribe', uid: 's', collection: 'note' });
    expect(await triggers()).to.equal(4);
    await next.stop();
    expect(await triggers()).to.equal(0);
  });
});
