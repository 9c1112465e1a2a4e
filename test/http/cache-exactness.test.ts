import { expect } from 'chai';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { createSeededRandom, type SeededRandom } from '../support/random.ts';
import { startRedis } from '../support/redis-server.ts';
import { type SpawnedService, spawnService } from '../support/service.ts';
import { createUserWithPermissions, requestAsAdmin, type TestUserWithToken } from './test-users.ts';

/** `CACHE_SEED=7 CACHE_STEPS=10000 npm test -- test/http/cache-exactness.test.ts` draws others and more. */
const SEED = Number(process.env.CACHE_SEED ?? 1);
const STEPS = Number(process.env.CACHE_STEPS ?? 300);
const READERS = 2;
/** Reads that are compared after each change. */
const CHECKS = 3;
const STATUS = 'x-cache-status';

const TABLES = `
  create table author (id int primary key, name text, owner uuid);
  create table book (id int primary key, title text, author int references author on delete cascade);
  create table page (id int primary key, text text, book int references book on delete set null);
  create table event (id int, kind text, note text, primary key (id, kind)) partition by list (kind);
  create table event_a partition of event for values in ('a');
  create table event_b partition of event for values in ('b');
  create table animal (id int primary key, name text);
  create table dog (primary key (id)) inherits (animal);
  create view book_list as select b.id, b.title, a.name as author from book b join author a on a.id = b.author;
  create table settle (id int primary key, n int);
  insert into settle values (1, 0);`;

const PATHS = [
  '/items/author?sort=id',
  '/items/author?sort=id&filter[owner][_eq]=$CURRENT_USER',
  '/items/author/1',
  '/items/author?aggregate[count]=*',
  '/items/book?sort=id&fields=title,author.name',
  '/items/book?filter[author][name][_contains]=1&sort=id',
  '/items/book?sort=author.name,id&limit=5&meta=*',
  '/items/page?sort=id&fields=*,book.title,book.author.name',
  '/items/page?aggregate[count]=*&groupBy[]=book&sort=book',
  '/items/event?sort=id,kind',
  '/items/event_a?sort=id',
  '/items/animal?sort=id',
  '/items/dog?sort=id',
  '/items/book_list?sort=id',
  '/users?fields=status,first_name&sort=id',
  `/graphql?query=${encodeURIComponent('{ author(sort: ["id"]) { id name } book(sort: ["id"]) { title author { name } } }')}`,
];

const TABLE_NAMES = ['author', 'book', 'page', 'event', 'animal', 'dog'];

/** A change: by an answered request, or by SQL, which has to be waited for. */
interface Change {
  readonly what: string;
  readonly isSql?: true;
}

class Exactness {
  readonly database: FreshDatabase;
  readonly services: readonly SpawnedService[];
  readonly person: TestUserWithToken;
  readonly permission: number;
  readonly random: SeededRandom;
  hits = 0;
  reads = 0;
  isOver = false;

  constructor(
    database: FreshDatabase,
    services: readonly SpawnedService[],
    person: TestUserWithToken,
    permission: number,
  ) {
    Object.assign(this, { database, services, person, permission });
    this.database = database;
    this.services = services;
    this.person = person;
    this.permission = permission;
    this.random = createSeededRandom(SEED);
  }

  /** Reads by all callers and processes while rows change, so that answers are stored in every moment. */
  async readMeanwhile(seed: number): Promise<void> {
    const random = createSeededRandom(seed);
    while (!this.isOver) {
      const { status } = await random
        .one(this.services)
        .request('GET', random.one(PATHS), { token: this.token(random) });
      if (status >= 500) throw new Error(`a read was answered ${status}`);
    }
  }

  token(random: SeededRandom): string | null {
    return random.one([this.services[0]?.admin.token ?? null, this.person.token, null]);
  }

  async step(at: number): Promise<void> {
    const change = await this.change();
    // A write through the API is answered when every process has handled all that was committed before it.
    if (change.isSql) await this.request('PATCH', '/items/settle/1', { n: at });
    // Most reads are of a table that the change names.
    const [table = ''] = TABLE_NAMES.filter((name) => change.what.includes(name));
    const concerned = PATHS.filter((path) => path.includes(table));
    for (let check = 0; check < CHECKS; check++) {
      const service = this.random.one(this.services);
      const path = this.random.one(check === 0 ? PATHS : concerned);
      const token = this.token(this.random);
      const cached = await service.request('GET', path, { token });
      const fresh = await service.request('GET', path, { token, headers: { 'cache-control': 'no-store' } });
      this.reads++;
      if (cached.headers.get(STATUS) === 'HIT') this.hits++;
      const about = `CACHE_SEED=${SEED}, step ${at}: ${path} after ${change.what}`;
      expect([cached.status, cached.body], about).to.deep.equal([fresh.status, fresh.body]);
    }
  }

  async request(method: string, path: string, body?: unknown): Promise<void> {
    const service = this.random.one(this.services);
    const { status, body: answer } = await service.request(method, path, { token: service.admin.token, body });
    // A row that does not exist is 403.
    if (status >= 500 || status === 401 || (status === 403 && path.startsWith('/items/settle')))
      throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`);
  }

  async change(): Promise<Change> {
    const { random } = this;
    const kind = random.upTo(100);
    if (kind < 40) return this.changeByRest();
    if (kind < 52) return this.changeByGraphql();
    if (kind < 88) return this.changeBySql();
    if (kind < 96) return this.changePermissions();
    return this.changeSchema();
  }

  async changeByRest(): Promise<Change> {
    const { random } = this;
    const id = 1 + random.upTo(6);
    const table = random.one(['author', 'book', 'page', 'animal', 'dog', 'event_a']);
    const values: Record<string, object> = {
      author: { name: `name ${random.upTo(1000)}`, owner: random.chance(0.5) ? this.person.id : null },
      book: { title: `title ${random.upTo(1000)}`, author: 1 + random.upTo(6) },
      page: { text: `text ${random.upTo(1000)}`, book: 1 + random.upTo(6) },
      animal: { name: `animal ${random.upTo(1000)}` },
      dog: { name: `dog ${random.upTo(1000)}` },
      event_a: { kind: 'a', note: `note ${random.upTo(1000)}` },
    };
    const method = random.one(['PATCH', 'PATCH', 'POST', 'DELETE']);
    const path = table === 'event_a' ? `/items/event_a/${id},a` : `/items/${table}/${id}`;
    if (method === 'POST') await this.request('POST', `/items/${table}`, { id, ...values[table] });
    else await this.request(method, path, method === 'PATCH' ? values[table] : undefined);
    return { what: `${method} ${path}` };
  }

  async changeByGraphql(): Promise<Change> {
    const { random } = this;
    const id = 1 + random.upTo(6);
    const query = random.one([
      `mutation { update_author_item(id: ${id}, data: { name: "graphql ${random.upTo(1000)}" }) { name } }`,
      `mutation { delete_book_item(id: ${id}) { id } }`,
      `mutation { create_book_item(data: { id: ${id}, title: "graphql", author: { id: ${id}, name: "nested" } }) { id } }`,
    ]);
    await this.request('POST', '/graphql', { query });
    return { what: query };
  }

  async changeBySql(): Promise<Change> {
    const { random } = this;
    const id = 1 + random.upTo(6);
    const n = random.upTo(1000);
    const text = random.one([
      `insert into author values (${id}, 'sql ${n}') on conflict (id) do update set name = excluded.name`,
      `insert into book select ${id}, 'sql ${n}', (select min(id) from author) on conflict (id) do update set title = excluded.title`,
      `insert into page values (${id}, 'sql ${n}', (select min(id) from book)) on conflict (id) do update set text = excluded.text`,
      `delete from author where id = ${id}`,
      `delete from book where id = ${id}`,
      `insert into event values (${id}, '${random.one(['a', 'b'])}', 'sql ${n}') on conflict (id, kind) do update set note = excluded.note`,
      `update event set kind = 'b' where id = ${id} and kind = 'a' and not exists (select from event_b b where b.id = ${id})`,
      `update event_a set note = 'partition ${n}' where id = ${id}`,
      `insert into event_b values (${id}, 'b', 'partition ${n}') on conflict (id, kind) do update set note = excluded.note`,
      `update animal set name = 'parent ${n}' where id = ${id}`,
      `insert into dog values (${id + 10}, 'child ${n}') on conflict (id) do update set name = excluded.name`,
      `update book_list set id = id where false`,
      `with moved as (update author set name = 'cte ${n}' where id = ${id} returning id) select from moved`,
      `truncate page`,
      `truncate event_a`,
      `begin; update author set name = 'rolled back'; rollback; update author set name = name || '.' where id = ${id}`,
      `set session_replication_role = replica; update author set name = 'replica ${n}' where id = ${id}; reset session_replication_role`,
    ]);
    await this.database.query(text).catch(() => {});
    return { what: text, isSql: true };
  }

  async changePermissions(): Promise<Change> {
    const { random } = this;
    const body = random.one([
      { fields: ['*'], permissions: null },
      { fields: ['id'], permissions: null },
      { fields: ['*'], permissions: { owner: { _eq: '$CURRENT_USER' } } },
      { fields: ['*'], permissions: { id: { _lt: 4 } } },
    ]);
    if (random.chance(0.3)) {
      const status = random.one(['active', 'suspended']);
      await this.request('PATCH', `/users/${this.person.id}`, { status, first_name: `n${random.upTo(100)}` });
      return { what: `status ${status}` };
    }
    await this.request('PATCH', `/permissions/${this.permission}`, body);
    return { what: `permission ${JSON.stringify(body)}` };
  }

  async changeSchema(): Promise<Change> {
    const { random } = this;
    if (random.chance(0.5)) {
      const field = random.one(['x', 'y']);
      const body = { field, type: 'string', schema: { default_value: 'new' } };
      if (random.chance(0.5)) await this.request('POST', '/fields/author', body);
      else await this.request('DELETE', `/fields/author/${field}`);
      return { what: `field ${field}` };
    }
    const text = random.one([
      `alter table book add column if not exists extra text default 'extra'`,
      `alter table book drop column if exists extra`,
      `create or replace view book_list as select b.id, b.title || '!' as title, a.name as author from book b join author a on a.id = b.author`,
      `create or replace view book_list as select b.id, b.title, a.name as author from book b join author a on a.id = b.author`,
      `alter table event detach partition event_b`,
      `alter table event attach partition event_b for values in ('b')`,
      `drop trigger if exists platform_rows_changed on author`,
      `alter table book disable trigger user`,
    ]);
    await this.database.query(text).catch(() => {});
    return { what: text, isSql: true };
  }
}

async function testExactness(env: Readonly<Record<string, string>>): Promise<{ hits: number; reads: number }> {
  const database = await freshDatabase('exact');
  const services: SpawnedService[] = [];
  try {
    await database.query(TABLES);
    const all = {
      CACHE_ENABLED: 'true',
      CACHE_SKIP_ALLOWED: 'true',
      CACHE_STATUS_HEADER: STATUS,
      LOG_LEVEL: 'warn',
      // Ten thousand changes take longer than the token of the first admin is good for.
      ACCESS_TOKEN_TTL: '1d',
      ...env,
    };
    services.push(await spawnService({ database, env: all }));
    services.push(await spawnService({ database, env: all }));
    const [one] = services as [SpawnedService];
    const readable = ['book', 'page', 'event', 'animal', 'dog', 'book_list', 'platform_users'];
    const person = await createUserWithPermissions(
      one,
      ['author', ...readable].map((collection) => ({ collection, action: 'read' as const })),
    );
    const publicRole = '00000000-0000-0000-0000-000000000000';
    for (const collection of ['author', 'book', 'dog'])
      await requestAsAdmin(one, 'POST', '/permissions', {
        role: publicRole,
        collection,
        action: 'read',
        fields: ['*'],
        permissions: null,
      });
    const [permission] = await database.query<{ id: number }>(
      `select id from platform_permissions where role = $1 and collection = 'author'`,
      [person.role],
    );
    const run = new Exactness(database, services, person, Number(permission?.id));
    const readers = Array.from({ length: READERS }, (_, at) => run.readMeanwhile(SEED * 1000 + at));
    const failed = Promise.all(readers).then(() => {});
    try {
      for (let at = 0; at < STEPS; at++) await run.step(at);
    } finally {
      run.isOver = true;
      await failed;
    }
    return run;
  } catch (error) {
    for (const service of services) process.stderr.write(service.output());
    throw error;
  } finally {
    await Promise.all(services.map((one) => one.stop()));
    await database.drop();
  }
}

/** Asserts that the cache was used at all, and says how often. */
function assertHits({ hits, reads }: { hits: number; reads: number }): void {
  if (process.env.CACHE_STEPS) console.log(`${STEPS} changes, ${reads} reads compared, ${hits} of them from the cache`);
  expect(hits / reads, 'share of reads from the cache').to.be.greaterThan(0.1);
}

describe('the response cache of two processes on one database', function () {
  this.timeout(120_000 + STEPS * 300);

  it('answers no read from memory as it was before a change that is over', async () => {
    assertHits(await testExactness({}));
  });

  it('answers no read from Redis as it was before a change that is over', async () => {
    const redis = await startRedis();
    try {
      assertHits(await testExactness({ CACHE_STORE: 'redis', REDIS: redis.url }));
    } finally {
      await redis.stop();
    }
  });
});
