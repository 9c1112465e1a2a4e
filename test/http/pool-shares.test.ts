import { expect } from 'chai';
import pg from 'pg';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type HttpReply, type InProcessService, startService } from '../support/service.ts';
import { createUserWithPermissions, requestAsAdmin } from './test-users.ts';

const TABLES = Array.from({ length: 12 }, (_, at) => `held${at}`);

describe('shares of the connection pool while a table is locked', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  let tokens: readonly string[];
  let holder: pg.Client;
  before(async () => {
    database = await createMigratedDatabase('places');
    for (const name of [...TABLES, 'thing'])
      await database.query(
        `create table ${name} (id serial primary key, name text); insert into ${name} (name) values ('a')`,
      );
    service = await startService({ database, env: { DB_POOL_WAIT_TIMEOUT: '1s', LOG_LEVEL: 'debug' } });
    const read = [...TABLES, 'thing'].map((collection) => ({ collection, action: 'read' as const }));
    tokens = await Promise.all(
      Array.from({ length: 14 }, async () => (await createUserWithPermissions(service, read)).token),
    );
    // These reads fill the caches of users and permissions before a test locks a table.
    for (const token of tokens) await ok('GET', '/items/thing', token);
  });
  beforeEach(async () => {
    holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
  });
  afterEach(() => holder.end());
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  const get = (path: string, token: string | null) => service.request('GET', path, { token });
  async function ok(method: string, path: string, token: string | null): Promise<HttpReply> {
    const reply = await service.request(method, path, { token });
    expect(reply.status, `${path}: ${JSON.stringify(reply.body)}`).to.equal(200);
    return reply;
  }

  /** Locks the tables, sends the requests, runs `during` while they wait, and answers their replies after releasing the lock. */
  async function locked(
    tables: readonly string[],
    requests: readonly (readonly [string, string])[],
    during: () => Promise<void>,
  ) {
    await holder.query(`begin; lock table ${tables.join(', ')} in access exclusive mode`);
    const held = requests.map(([path, token]) => get(path, token));
    try {
      await blocked();
      await during();
    } finally {
      await holder.query('rollback');
    }
    return Promise.all(held);
  }

  /** Waits until the number of statements that wait for a lock no longer grows. */
  async function blocked(): Promise<void> {
    for (let last = -1, same = 0; same < 10; ) {
      const [row] = await database.query<{ count: number }>(
        `select count(*)::int as count from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())`,
      );
      const count = row?.count ?? 0;
      same = count > 0 && count === last ? same + 1 : 0;
      last = count;
    }
  }

  /** Asserts that reads of another table, a login and GET /server/health are answered, one by one and all at once. */
  async function assertServed(others: readonly string[]): Promise<void> {
    const { email, password, token } = service.admin;
    for (const one of others) await ok('GET', '/items/thing', one);
    await ok('GET', '/items/thing', token);
    const all = await Promise.all([
      ...others.map((one) => get('/items/thing', one)),
      service.request('POST', '/auth/login', { body: { email, password } }),
      get('/server/health', null),
      get('/users/me', token),
    ]);
    expect(all.map(({ status }) => status)).to.deep.equal(all.map(() => 200));
  }

  const statuses = (replies: readonly HttpReply[]) => [...new Set(replies.map(({ status }) => status))].sort();

  it('other tables, logins and health answer while one caller reads the locked table fourteen times', async () => {
    const [one, ...others] = tokens as [string, ...string[]];
    const requests = Array.from({ length: 14 }, (_, at) => [`/items/held0?limit=${at + 1}`, one] as const);
    await locked(['held0'], requests, () => assertServed(others.slice(0, 4)));
  });

  for (const whose of ['a caller', 'an admin']) {
    it(`other tables answer to ${whose} whose reads of a locked table hang`, async () => {
      const own = whose === 'an admin' ? service.admin.token : (tokens[0] as string);
      const requests = Array.from({ length: 14 }, (_, at) => [`/items/held0?limit=${at + 1}`, own] as const);
      await locked(['held0'], requests, () => assertServed([own, own]));
    });
  }

  it('other tables, logins and health answer while fourteen callers read the locked table', async () => {
    const requests = tokens.map((token) => ['/items/held0', token] as const);
    await locked(['held0'], requests, () => assertServed(tokens.slice(0, 4)));
  });

  it('other callers get answers while one caller reads twelve locked tables', async () => {
    const [one, ...others] = tokens as [string, ...string[]];
    await locked(
      TABLES,
      TABLES.map((table) => [`/items/${table}`, one] as const),
      () => assertServed(others.slice(0, 4)),
    );
  });

  it('admins, logins and health get answers while twelve callers read twelve locked tables', async () => {
    const { email, password, token } = service.admin;
    await locked(
      TABLES,
      TABLES.map((table, at) => [`/items/${table}`, tokens[at] as string] as const),
      async () => {
        await ok('GET', '/items/thing', token);
        expect((await service.request('POST', '/auth/login', { body: { email, password } })).status).to.equal(200);
        await ok('GET', '/server/health', null);
      },
    );
  });

  it('requests with a connection answer after the lock, and the others are 503 with Retry-After and a reason', async () => {
    const requests = tokens.map((token) => ['/items/held0', token] as const);
    const before = service.log.length;
    const replies = await locked(['held0'], requests, async () => {
      let { body } = await ok('GET', '/server/health', service.admin.token);
      while (body.status === 'ok') ({ body } = await ok('GET', '/server/health', service.admin.token));
      expect(body.status).to.equal('warn');
      expect(body.checks['pg:responseTime'][0].status).to.be.oneOf(['ok', 'warn']);
      expect(body.checks['pg:connectionsWaiting'][0]).to.include({ status: 'warn', observedUnit: 'statements' });
      // Waits until the service has refused one of the requests that wait for a connection.
      while (!service.log.slice(before).some(({ msg, status }) => msg === 'request' && status === 503))
        await get('/items/thing', null);
    });
    expect(statuses(replies)).to.deep.equal([200, 503]);
    for (const { status, headers, body } of replies.filter((reply) => reply.status === 503)) {
      expect(Number(headers.get('retry-after')), String(status)).to.be.above(0);
      const [{ message, extensions }] = body.errors;
      expect(extensions).to.include({ code: 'SERVICE_UNAVAILABLE', service: 'database' });
      expect(message)
        .to.match(/connection/)
        .and.not.match(/reached/);
    }
  });

  it('the same requests answer once the table is free', async () => {
    const replies = await Promise.all(tokens.map((token) => get('/items/held0', token)));
    expect(statuses(replies)).to.deep.equal([200]);
    await requestAsAdmin(service, 'GET', '/items/held0');
  });
});
