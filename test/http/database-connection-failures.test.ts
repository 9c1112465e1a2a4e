import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { requestAsAdmin } from './test-users.ts';

describe('a database that ends connections or takes too long', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  before(async function () {
    this.timeout(120_000);
    database = await createMigratedDatabase('hostile_connections');
    await database.query(`
      create table thing (id serial primary key, name text, above int references thing);
      create function wait() returns trigger language plpgsql as
        $$ begin if new.name = 'slow' then perform pg_sleep(120); end if; return new; end $$;
      create trigger waits after insert or update on thing for each row execute function wait();
      create table one (id int primary key);
      insert into one values (1);
      create view slow as select id, pg_sleep(120)::text as waited from one;
      create table long (id serial primary key, text text);
      insert into long (text) select repeat(md5(i::text), 20) from generate_series(1, 40000) i`);
    service = await startService({ database, env: { DB_POOL_MAX: '4', DB_STATEMENT_TIMEOUT: '8000' } });
    await requestAsAdmin(service, 'POST', '/fields/thing', {
      field: 'below',
      type: 'alias',
      meta: { special: ['o2m'] },
    });
    await requestAsAdmin(service, 'PATCH', '/relations/thing/above', { meta: { one_field: 'below' } });
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  const admin = (method: string, path: string, body?: unknown) =>
    service.request(method, path, { token: service.admin.token, body });

  /** Terminates the database connections of the service that match the SQL condition `state`, as soon as one does. */
  const end = (state: string) =>
    until(async () => {
      const rows = await database.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'tenon' and ${state}`);
      return rows.length > 0;
    });
  const ASLEEP = "wait_event = 'PgSleep'";

  const stored = async () => {
    const [row] = await database.query(`select (select count(*)::int from thing) as things,
      (select count(*)::int from platform_activity where collection = 'thing') as activity,
      (select count(*)::int from platform_revisions where collection = 'thing') as revisions`);
    return row;
  };
  const NOTHING = { things: 0, activity: 0, revisions: 0 };
  const NESTED = { name: 'a', above: { name: 'b' }, below: [{ name: 'c' }, { name: 'slow' }] };

  for (const [what, method, path, body] of [
    ['a write', 'POST', '/items/thing', { name: 'slow' }],
    ['a nested write', 'POST', '/items/thing', NESTED],
    ['a read', 'GET', '/items/slow', undefined],
    ['a long read', 'GET', '/items/slow?limit=-1', undefined],
    ['an export', 'GET', '/items/slow?export=csv', undefined],
  ] as const) {
    it(`${what} whose database connection is terminated answers 503, and the next request gets a new connection`, async () => {
      const pending = admin(method, path, body);
      await end(ASLEEP);
      const { status, body: answer } = await pending;
      expect([status, answer.errors[0].extensions.code]).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
      for (let round = 0; round < 5; round++) expect((await admin('GET', '/items/one')).status).to.equal(200);
      expect(await stored()).to.deep.equal(NOTHING);
    });
  }

  it('a write that exceeds its time limit is rolled back, whichever of its statements was running', async () => {
    for (const body of [{ name: 'slow' }, NESTED, [{ name: 'a' }, { name: 'slow' }]]) {
      const { status } = await admin('POST', '/items/thing', body);
      expect(status).to.equal(503);
      expect(await stored()).to.deep.equal(NOTHING);
    }
  });

  it('a response whose database connection is ended in the middle is broken off, not completed', async () => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1').on('error', () => {});
    try {
      socket.write(
        `GET /items/long?limit=-1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.admin.token}\r\n\r\n`,
      );
      let text = '';
      socket.setEncoding('latin1').on('data', (part) => (text += part));
      // The response has begun. It continues when the client reads on.
      await once(socket, 'data');
      socket.pause();
      await end("state = 'idle in transaction'");
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.resume();
      await closed;
      expect(text).to.match(/^HTTP\/1.1 200/);
      expect(text.endsWith('0\r\n\r\n')).to.equal(false);
    } finally {
      socket.destroy();
    }
    expect((await admin('GET', '/items/long?limit=-1&fields=id')).body.data).to.have.length(40_000);
  });

  it('clients that stop reading do not block other requests, and release their database connections when they disconnect', async () => {
    const sockets = Array.from({ length: 8 }, () =>
      connect(Number(new URL(service.url).port), '127.0.0.1').on('error', () => {}),
    );
    const open = async () => {
      const [row] = await database.query<{ count: number }>(`select count(*)::int from pg_stat_activity
        where datname = current_database() and application_name = 'tenon' and state = 'idle in transaction'`);
      return row?.count;
    };
    for (const socket of sockets) {
      socket.pause();
      socket.write(
        `GET /items/long?limit=-1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.admin.token}\r\n\r\n`,
      );
    }
    await until(async () => (await open()) === 2);
    expect((await admin('GET', '/items/one')).status).to.equal(200);
    // The connections still exist; one may be fetching rows.
    await until(async () => (await open()) === 2);
    for (const socket of sockets) socket.destroy();
    await until(async () => (await open()) === 0);
    const reads = await Promise.all([1, 2, 3].map(() => admin('GET', '/items/long?limit=-1&fields=id')));
    expect(reads.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
  });
});
