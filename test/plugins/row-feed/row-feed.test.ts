import { expect } from 'chai';
import pg from 'pg';
import { openAuthenticated, type RealtimeTestClient } from '../../support/realtime-client.ts';
import { type InProcessService, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

/** Tables as other programs create them, each with rows that a subscription reads. */
describe('changed rows of unusual tables', function () {
  this.timeout(60_000);
  let service: InProcessService;
  const clients: RealtimeTestClient[] = [];
  const sql = (text: string) => service.database.query(text);

  /** Creates a table, waits until it is a collection, and subscribes to it. */
  async function subscribe(name: string, definition: string, message: object = {}): Promise<RealtimeTestClient> {
    await sql(`create table ${name} ${definition}`);
    await until(
      async () => (await service.request('GET', `/items/${name}`, { token: service.admin.token })).status === 200,
    );
    const client = await openAuthenticated(service.url, service.admin.token);
    clients.push(client);
    const answer = await client.ask({ type: 'subscribe', collection: name, uid: 's', ...message });
    expect(answer.event, JSON.stringify(answer)).to.equal('init');
    return client;
  }
  const next = async (client: RealtimeTestClient, event: string) =>
    (await client.next((one) => one.event === event)).data;

  before(async () => {
    service = await startService({ env: { WEBSOCKETS_ENABLED: 'true' } });
  });
  afterEach(() => {
    for (const client of clients.splice(0)) client.close();
  });
  after(() => service?.stop());

  it('are reported where columns have the names of aliases and variables', async () => {
    const names = ['n', 'o', 'u', 'rows', 'content', 'body', 'message_id', 'tg_argv', 'tg_nargs', 'tg_op'];
    const client = await subscribe('shadows', `(id int primary key, ${names.map((one) => `${one} text`).join(', ')})`);
    await sql(`insert into shadows (id, n, o) values (7, 'x', 'y')`);
    expect((await next(client, 'create'))[0]).to.include({ id: 7, n: 'x' });
    await sql(`update shadows set o = 'z'`);
    expect((await next(client, 'update'))[0]).to.include({ id: 7, o: 'z' });
    await sql('delete from shadows');
    expect(await next(client, 'delete')).to.deep.equal([7]);
  });

  it('are reported with exact numbers, also those that JSON rounds', async () => {
    const client = await subscribe('wide', '(id bigint primary key, d numeric)', {
      query: { filter: { d: { _eq: '12345678901234567890.5' } } },
    });
    await sql(`insert into wide values (9007199254740993, 12345678901234567890.5)`);
    expect(await next(client, 'create')).to.deep.equal([{ id: '9007199254740993', d: '12345678901234567890.5' }]);
    await sql('delete from wide');
    expect(await next(client, 'delete')).to.deep.equal(['9007199254740993']);
  });

  it('are reported by keys of several columns, and of types with many texts', async () => {
    const pairs = await subscribe('pairs', '(a int, b text, c int, primary key (a, b))');
    await sql(`insert into pairs values (1, 'x,y~z', 1)`);
    await next(pairs, 'create');
    await sql('update pairs set c = 2');
    expect((await next(pairs, 'update'))[0]).to.include({ a: 1, b: 'x,y~z', c: 2 });
    await sql('delete from pairs');
    expect(await next(pairs, 'delete')).to.deep.equal(['1,x~1y~0z']);
    const moments = await subscribe('moments', '(at timestamptz primary key, n int)', { leaving: true });
    await sql(`insert into moments values ('2026-01-01 12:00:00.5+02', 1)`);
    await next(moments, 'create');
    await sql(`set timezone to 'Asia/Tokyo'; update moments set n = 2; delete from moments`);
    await next(moments, 'delete');
    // Announced twice where the delete comes only after the row of the update was read, and with the same key.
    const keys = moments.messages.flatMap(({ event, data }) => (event === 'delete' ? data : []));
    expect(new Set(keys).size).to.equal(1);
  });

  it('are reported for rows of partitions, written by the parent or directly', async () => {
    const client = await subscribe('parted', '(id int primary key, v text) partition by range (id)');
    await sql('create table parted_low partition of parted for values from (0) to (100)');
    await until(async () => {
      const [found] = await service.database.query<{ count: string }>(
        `select count(*) as count from pg_trigger where tgrelid = 'parted_low'::regclass and tgname like 'platform_row_feed%'`,
      );
      return found?.count === '4';
    });
    await sql(`insert into parted values (1, 'by the parent')`);
    await client.next(({ data }) => data?.[0]?.v === 'by the parent');
    await sql(`insert into parted_low values (2, 'directly')`);
    await client.next(({ data }) => data?.some?.(({ v }: { v: string }) => v === 'directly'));
  });

  it('are reported for roles that have no right on the tables of the feed', async () => {
    const client = await subscribe('shared', '(id int primary key)');
    await sql('create role guest_writer');
    await sql('grant insert on shared to guest_writer');
    try {
      await sql('begin; set local role guest_writer; insert into shared values (1); commit');
      expect(await next(client, 'create')).to.deep.equal([{ id: 1 }]);
    } finally {
      await sql('drop owned by guest_writer; drop role guest_writer');
    }
  });

  it('are reported by functions that no other role may put on its tables, also after a restore without privileges', async () => {
    await subscribe('restored_first', '(restored_id int primary key)');
    await sql(`do $$declare name text; begin
      for name in select oid::regprocedure::text from pg_proc where proname like 'platform\\_row\\_feed%' loop
        execute format('grant execute on function %s to public', name);
      end loop; end$$`);
    const client = await subscribe('restored_second', '(restored_id int primary key)');
    await sql('insert into restored_second values (1)');
    expect(await next(client, 'create')).to.deep.equal([{ restored_id: 1 }]);
    const [row] = await service.database.query<{ open: boolean }>(
      `select bool_or(has_function_privilege('public', tgfoid, 'execute')) as open from pg_trigger
        where tgrelid = 'restored_second'::regclass and tgname like 'platform\\_row\\_feed%'`,
    );
    expect(row?.open).to.equal(false);
  });

  it('are reported as a list to read again, and do not fail, where PostgreSQL makes no JSON of a row', async () => {
    await sql(`create type stubborn as enum ('x');
      create function stubborn_json(stubborn) returns json language plpgsql as $$begin raise exception 'no'; end$$;
      create cast (stubborn as json) with function stubborn_json(stubborn)`);
    const client = await subscribe('odd', '(id int primary key, v text, s stubborn)', {
      query: { fields: ['id', 'v'] },
    });
    await sql(`insert into odd values (1, 'a', 'x'), (2, 'b', null)`);
    expect(await next(client, 'create')).to.deep.equal([
      { id: 1, v: 'a' },
      { id: 2, v: 'b' },
    ]);
    await sql(`update odd set v = 'c' where id = 1`);
    expect(await next(client, 'update')).to.deep.equal([{ id: 1, v: 'c' }]);
    await sql('delete from odd where id = 1');
    expect((await client.next(({ resync }) => resync)).data).to.deep.equal([{ id: 2, v: 'b' }]);
    expect(await sql('select id from odd')).to.deep.equal([{ id: 2 }]);
  });

  it('are reported as a list to read again for more rows than messages name', async () => {
    const client = await subscribe('plenty', '(id int primary key, v text)', { leaving: true, query: { limit: 1 } });
    const resync = async (text: string) => {
      await sql(text);
      await client.next((one) => one.resync === true);
    };
    await resync(`insert into plenty select n, 'a' from generate_series(1, 5001) n`);
    await resync(`update plenty set v = 'b'`);
    await resync('delete from plenty');
  });

  it('are reported where an update changes keys, also when rows swap them', async () => {
    const client = await subscribe('moving', '(id int primary key deferrable, v text)');
    await sql(`insert into moving values (1, 'a'), (2, 'b')`);
    await next(client, 'create');
    await sql('update moving set id = 3 - id');
    expect(await next(client, 'update')).to.have.deep.members([
      { id: 1, v: 'b' },
      { id: 2, v: 'a' },
    ]);
    await sql('update moving set id = id + 1');
    expect(await next(client, 'delete')).to.deep.equal([1]);
    expect(await next(client, 'update')).to.have.deep.members([
      { id: 2, v: 'b' },
      { id: 3, v: 'a' },
    ]);
  });

  it('are reported by the triggers of another version of the service, which stay', async () => {
    const client = await subscribe('older', '(code int primary key)');
    const triggers = async () =>
      service.database.query(
        `select t.oid::text as trigger, p.proname as function from pg_trigger t join pg_proc p on p.oid = t.tgfoid
          where t.tgrelid = 'older'::regclass order by t.oid`,
      );
    const [{ function: name }] = (await triggers()) as [{ function: string }];
    await sql(`alter function ${name}() rename to platform_row_feed_1_00000000`);
    const before = await triggers();
    // Another table makes the service look at its triggers again.
    await subscribe('newer', '(code int primary key)');
    await sql('insert into older values (1)');
    expect(await next(client, 'create')).to.deep.equal([{ code: 1 }]);
    expect(await triggers()).to.deep.equal(before);
  });

  it('are announced to roles of the database that listen, with keys and without what was in the rows', async () => {
    const client = await subscribe('secrets', '(id int primary key, word text)', { leaving: true });
    await sql(`create role guest_listener login password 'a word'`);
    const url = new URL(service.database.url);
    [url.username, url.password] = ['guest_listener', 'a word'];
    const guest = new pg.Client({ connectionString: url.href });
    const messages: string[] = [];
    guest.on('notification', ({ payload = '' }) => messages.push(payload));
    try {
      await guest.connect();
      await guest.query('listen platform_bus');
      await sql(`insert into secrets values (4711, 'quintessence')`);
      await next(client, 'create');
      await sql(`update secrets set word = 'quintessence of dust'`);
      await next(client, 'update');
      await sql('delete from secrets');
      expect(await next(client, 'delete')).to.deep.equal([4711]);
      await until(() => messages.filter((text) => text.includes('rows.feed')).length === 3);
      expect(messages.join()).to.include('4711').and.not.include('quintessence');
      const refusal = await guest.query('select content from platform_row_feed_messages').catch(({ code }) => code);
      expect(refusal).to.equal('42501');
    } finally {
      await guest.end();
      await sql('drop role guest_listener');
    }
  });

  it('leave no content behind that is older than a minute, however many there are', async () => {
    await sql(`insert into platform_row_feed_messages (id, content, at)
      select 'old-' || n, '{}', now() - interval '2 minutes' from generate_series(1, 12000) n`);
    const other = await startService({ env: { WEBSOCKETS_ENABLED: 'true' }, database: service.database });
    try {
      await until(async () => (await sql(`select from platform_row_feed_messages where id like 'old-%'`)).length === 0);
    } finally {
      await other.stop();
    }
  });

  it('are refused for views and tables without a key', async () => {
    await sql('create table plain (v text)');
    await sql('create view seen as select v from plain');
    const client = await openAuthenticated(service.url, service.admin.token);
    clients.push(client);
    for (const collection of ['plain', 'seen']) {
      await until(
        async () =>
          (await service.request('GET', `/items/${collection}`, { token: service.admin.token })).status === 200,
      );
      expect((await client.ask({ type: 'subscribe', collection })).error.code).to.equal('INVALID_PAYLOAD');
    }
  });
});
