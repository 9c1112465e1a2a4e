import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const ROWS = 5000;

describe('GET /items of a long list', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  before(async () => {
    database = await createMigratedDatabase('stream');
    await database.query('create table thing (id int primary key, name text, body text, parent int references thing)');
    await database.query(
      `insert into thing select n, 'n' || n, repeat('x', 500), nullif(n / 10, 0) from generate_series(1, ${ROWS}) n`,
    );
    await database.query('create table wide (id int primary key, body text)');
    await database.query(`insert into wide select n, repeat(md5(n::text), 3000) from generate_series(1, 400) n`);
    await database.query('create table few (id int primary key)');
    await database.query('insert into few select generate_series(1, 3)');
    // The division by zero fails ten rows before the end, long after the first rows were sent.
    await database.query(`create view failing as select id, body, 1 / (id - ${ROWS - 10}) as q from thing`);
    await database.query(
      `create view slowing as select id, body, case when id = 3000 then pg_sleep(30)::text end as q from thing`,
    );
    service = await startService({
      database,
      env: { DB_POOL_MAX: '4', STREAM_STALL_TIMEOUT: '8s', DB_STATEMENT_TIMEOUT: '3s', LOG_LEVEL: 'info' },
    });
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  const read = (path: string) => service.request('GET', path, { token: service.admin.token });

  /** Sends GET, and resolves to the response before its body is read. */
  async function openAnswer(path: string): Promise<IncomingMessage> {
    const request = get(service.url + path, {
      agent: false,
      headers: { authorization: `Bearer ${service.admin.token}` },
    });
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    return answer;
  }

  const inUse = async () => {
    const [row] = await database.query<{ count: string }>(
      "select count(*) from pg_stat_activity where application_name = 'tenon' and datname = current_database() and state <> 'idle'",
    );
    return Number(row?.count);
  };

  it('a long list is streamed with all rows in order', async () => {
    const { status, headers, body } = await read('/items/thing?limit=-1&fields=id,name,body,parent.name');
    expect(status).to.equal(200);
    expect([headers.get('content-length'), headers.get('etag')]).to.deep.equal([null, null]);
    expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
    expect(body.data).to.have.length(ROWS);
    expect(body.data[4321]).to.deep.equal({ id: 4322, name: 'n4322', body: 'x'.repeat(500), parent: { name: 'n432' } });
    expect(body).to.have.all.keys('data');
  });

  it('a streamed list has meta after data, and the same rows as a buffered answer', async () => {
    const { body } = await read('/items/thing?limit=3000&meta=*&filter[id][_gt]=1000&sort=-id');
    expect(body.meta).to.deep.equal({ total_count: ROWS, filter_count: ROWS - 1000 });
    expect(body.data).to.have.length(3000);
    const { body: part } = await read('/items/thing?limit=1000&offset=2000&filter[id][_gt]=1000&sort=-id');
    expect(body.data.slice(2000)).to.deep.equal(part.data);
  });

  it('a list that turns out to be short is a buffered answer with content-length and ETag', async () => {
    const { headers, body } = await read('/items/few?limit=-1&meta=total_count');
    expect(body).to.deep.equal({ data: [{ id: 1 }, { id: 2 }, { id: 3 }], meta: { total_count: 3 } });
    expect(Number(headers.get('content-length'))).to.be.above(0);
    expect(headers.get('etag')).to.match(/^W\//);
    expect((await read('/items/few?limit=-1&filter[id][_gt]=3')).body).to.deep.equal({ data: [] });
    expect((await read('/items/few?limit=-1&filter[id][_gt]=3&meta=*')).body).to.deep.equal({
      data: [],
      meta: { total_count: 3, filter_count: 0 },
    });
  });

  it('HEAD answers without reading the list', async () => {
    const { status, body } = await service.request('HEAD', '/items/thing?limit=-1', { token: service.admin.token });
    expect([status, body]).to.deep.equal([200, undefined]);
    await until(async () => (await inUse()) === 0);
  });

  it('a bad query is rejected before the first byte', async () => {
    const { status, body } = await read('/items/failing?limit=-1&filter[id][_gte]=4990&sort=id');
    expect([status, body.errors[0].extensions.code]).to.deep.equal([400, 'INVALID_QUERY']);
    expect((await service.request('GET', '/items/thing?limit=-1')).status).to.equal(403);
  });

  it('the connection is closed where an error occurs after the first byte', async () => {
    for (const view of ['failing', 'slowing']) {
      const answer = await openAnswer(`/items/${view}?limit=-1`);
      expect(answer.statusCode).to.equal(200);
      const error = await text(answer).then(
        () => undefined,
        (reason: NodeJS.ErrnoException) => reason,
      );
      expect(error?.code, view).to.equal('ECONNRESET');
    }
    expect(service.log.filter(({ msg }) => msg === 'a streamed response failed')).to.have.length(2);
    await until(async () => (await inUse()) === 0);
    expect((await read('/items/few')).status).to.equal(200);
  });

  it('the database connection is released when the client disconnects', async () => {
    const answer = await openAnswer('/items/wide?limit=-1');
    await until(async () => (await inUse()) === 1);
    answer.destroy();
    await until(async () => (await inUse()) === 0);
    expect((await read('/items/wide?limit=-1')).body.data).to.have.length(400);
  });

  it('a client that reads nothing is disconnected, and a slow client gets the whole list', async () => {
    const stalled = await openAnswer('/items/wide?limit=-1');
    const slow = await openAnswer('/items/wide?limit=-1');
    const failed = once(stalled, 'error').catch((error) => [error]);
    let size = 0;
    const begun = performance.now();
    // Reading takes longer than DB_STATEMENT_TIMEOUT, which does not count the time between two fetches.
    for await (const part of slow) {
      size += part.length;
      await pause(8);
    }
    expect(size).to.be.above(400 * 96_000);
    expect(performance.now() - begun, 'longer than a statement may take').to.be.above(3000);
    await until(async () => (await inUse()) === 0);
    stalled.resume();
    expect((await failed)[0].code).to.equal('ECONNRESET');
    expect(service.log.some(({ msg }) => msg === 'a client read a streamed response too slowly')).to.equal(true);
  });

  it('other requests get connections, however many readers are slow', async () => {
    const readers = await Promise.all([openAnswer('/items/wide?limit=-1'), openAnswer('/items/wide?limit=-1')]);
    let answered = false;
    const third = openAnswer('/items/wide?limit=-1').then((answer) => {
      answered = true;
      return answer;
    });
    expect((await read('/items/few')).status).to.equal(200);
    expect(await inUse()).to.equal(2);
    expect(answered).to.equal(false);
    for (const reader of readers) reader.destroy();
    (await third).destroy();
    await until(async () => (await inUse()) === 0);
  });
});
