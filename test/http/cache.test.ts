import { expect } from 'chai';
import { PUBLIC_ROLE_ID } from '../../plugins/access/contract.ts';
import { type FreshDatabase, freshDatabase, runSqlFile } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';
import { type TestComposition, writeTestPluginPackages } from '../support/test-plugins.ts';
import { until } from '../support/until.ts';
import { createUserWithPermissions } from './test-users.ts';

const STATUS = 'x-cache-status';
const env = { CACHE_ENABLED: 'true', CACHE_STATUS_HEADER: STATUS, LOG_LEVEL: 'info' };

type Options = Parameters<InProcessService['request']>[2];

describe('the response cache', function () {
  this.timeout(120_000);
  let database: FreshDatabase;
  let service: InProcessService;
  before(async () => {
    database = await freshDatabase('cache');
    await runSqlFile(database.url, new URL('../data/chinook.sql', import.meta.url));
    service = await startService({ env, database });
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  const asAdmin = (options: Options = {}): Options => ({ token: service.admin.token, ...options });
  const read = (path: string, options: Options = asAdmin()) => service.request('GET', path, options);
  const statusOf = async (path: string, options?: Options) => (await read(path, options)).headers.get(STATUS);
  /** Reads until the answer comes from the cache: the first reads put triggers on the tables. */
  const untilCached = (path: string, options?: Options) =>
    until(async () => {
      const reply = await read(path, options);
      return reply.headers.get(STATUS) === 'HIT' && reply;
    });

  it('answers a repeated read from memory, byte for byte', async () => {
    const path = '/items/artist?fields=name&limit=3&sort=artist_id';
    const first = await read(path);
    expect(first.headers.get(STATUS)).to.equal('MISS');
    const hit = await untilCached(path);
    expect(hit.body).to.deep.equal(first.body);
    expect(hit.headers.get('content-type')).to.equal(first.headers.get('content-type'));
    expect(hit.headers.get('etag')).to.equal(first.headers.get('etag'));
    expect(hit.headers.get('cache-control')).to.match(/^private, max-age=(299|300)$/);
  });

  it('answers 304 from memory to a client that has the answer', async () => {
    const path = '/items/artist?limit=4';
    const { headers } = await untilCached(path);
    // Without a value of its own, fetch sends `no-cache`, which asks for the whole answer.
    const conditional = { 'if-none-match': headers.get('etag') as string, 'cache-control': 'max-age=0' };
    const reply = await read(path, asAdmin({ headers: conditional }));
    expect(reply.status).to.equal(304);
    expect(reply.headers.get(STATUS)).to.equal('HIT');
  });

  it('takes unrelated parameters in any order, and related ones as they are', async () => {
    await untilCached('/items/artist?fields=name&limit=2');
    expect(await statusOf('/items/artist?limit=2&fields=name')).to.equal('HIT');
    await untilCached('/items/artist?fields[]=name&fields[]=artist_id&limit=2');
    expect(await statusOf('/items/artist?fields[]=artist_id&fields[]=name&limit=2')).to.equal('MISS');
  });

  it('takes the token from the query string out of the key', async () => {
    await untilCached('/items/artist?limit=5');
    expect(await statusOf(`/items/artist?access_token=${service.admin.token}&limit=5`, {})).to.equal('HIT');
  });

  it('forgets an answer when a row of its table, a related table or a filtered table changes', async () => {
    const own = '/items/artist?fields=name&sort=artist_id&limit=1';
    const related = '/items/album?fields=title,artist_id.name&sort=album_id&limit=1';
    const filtered = '/items/album?fields=title&filter[artist_id][name][_contains]=renamed';
    const counted = '/items/artist?fields=name&sort=artist_id&limit=1&meta=*';
    for (const path of [own, related, filtered, counted]) await untilCached(path);
    const { status } = await service.request('PATCH', '/items/artist/1', asAdmin({ body: { name: 'renamed one' } }));
    expect(status).to.equal(200);
    expect((await read(own)).body.data).to.deep.equal([{ name: 'renamed one' }]);
    expect((await read(related)).body.data[0].artist_id).to.deep.equal({ name: 'renamed one' });
    expect((await read(filtered)).body.data).to.have.length(2);
    expect(await statusOf(counted)).to.equal('MISS');
  });

  it('keeps an answer when another table changes', async () => {
    const path = '/items/genre?limit=3';
    await untilCached(path);
    await service.request('PATCH', '/items/artist/2', asAdmin({ body: { name: 'another' } }));
    expect(await statusOf(path)).to.equal('HIT');
  });

  it('forgets an answer when SQL by hand changes a row, or empties the table', async () => {
    const path = '/items/media_type?fields=name&sort=media_type_id';
    await untilCached(path);
    await database.query(`update media_type set name = 'by hand' where media_type_id = 1`);
    await until(async () => (await read(path)).body.data[0].name === 'by hand');
    await database.query('create table emptied (id int primary key)');
    await database.query('insert into emptied values (1)');
    await until(async () => (await read('/items/emptied')).status === 200);
    await untilCached('/items/emptied');
    await database.query('truncate emptied');
    await until(async () => (await read('/items/emptied')).body.data.length === 0);
  });

  it('answers GraphQL queries by POST and GET from memory, and not an answer with errors', async () => {
    const query = '{ artist(limit: 2, sort: ["artist_id"]) { name } }';
    const ask = (text: string) => service.request('POST', '/graphql', asAdmin({ body: { query: text } }));
    const first = await ask(query);
    const hit = await until(async () => {
      const reply = await ask(query);
      return reply.headers.get(STATUS) === 'HIT' && reply;
    });
    expect(hit.body).to.deep.equal(first.body);
    expect(hit.headers.get('cache-control')).to.equal('no-store');
    await untilCached(`/graphql?query=${encodeURIComponent(query)}`);
    await service.request(
      'POST',
      '/graphql',
      asAdmin({ body: { query: 'mutation { update_artist_item(id: 1, data: { name: "by graphql" }) { name } }' } }),
    );
    expect((await ask(query)).body.data.artist[0].name).to.equal('by graphql');
    for (let time = 0; time < 3; time++) {
      const failed = await ask('{ artist_by_id(id: 999999) { name } artist(limit: 1) { name } }');
      expect(failed.body.errors).to.have.length(1);
      expect(failed.headers.get(STATUS)).to.equal(null);
      expect((await ask('{ __schema { queryType { name } } }')).headers.get(STATUS)).to.equal(null);
    }
  });

  it('gives callers of one role one answer only where neither permission nor query depends on the user', async () => {
    const plain = [{ collection: 'genre', action: 'read', fields: ['*'] }] as const;
    const [one, two] = [
      await createUserWithPermissions(service, plain),
      await createUserWithPermissions(service, plain),
    ];
    const path = '/items/genre?limit=2';
    await untilCached(path, { token: one.token });
    // Another role with equal permissions.
    expect(await statusOf(path, { token: two.token })).to.equal('HIT');
    const own = '/items/genre?limit=2&filter[name][_neq]=$CURRENT_USER';
    await untilCached(own, { token: one.token });
    expect(await statusOf(own, { token: two.token })).to.equal('MISS');
    const byRole = '/items/genre?limit=2&filter[name][_neq]=$CURRENT_ROLE';
    await untilCached(byRole, { token: one.token });
    expect(await statusOf(byRole, { token: two.token })).to.equal('MISS');
    const other = await createUserWithPermissions(service, [
      { collection: 'genre', action: 'read', fields: ['name'], permissions: { genre_id: { _lt: 3 } } },
    ]);
    const reply = await read(path, { token: other.token });
    expect(reply.headers.get(STATUS)).to.equal('MISS');
    expect(reply.body.data[0]).to.have.all.keys('name');
    expect((await read(path, {})).status).to.equal(403);
  });

  it('does not keep what depends on the time, exports, files to download, lists in parts or errors', async () => {
    const paths = [
      '/items/invoice?limit=1&filter[invoice_date][_lt]=$NOW',
      '/items/genre?export=json',
      '/items/track?limit=-1',
      '/items/genre/999999',
      '/items/nothing',
      '/users/me',
      '/server/info',
      '/server/specs/graphql',
      '/permissions/me',
      '/fields/genre',
    ];
    for (const path of paths) for (let time = 0; time < 3; time++) expect(await statusOf(path), path).to.equal(null);
  });

  it('takes a change of permissions, the end of a permission and a suspension at once', async () => {
    const person = await createUserWithPermissions(service, [
      { collection: 'playlist', action: 'read', fields: ['*'] },
    ]);
    const path = '/items/playlist?limit=1';
    await untilCached(path, { token: person.token });
    const [permission] = await database.query<{ id: number }>('select id from platform_permissions where role = $1', [
      person.role,
    ]);
    await service.request('PATCH', `/permissions/${permission?.id}`, asAdmin({ body: { fields: ['name'] } }));
    const narrowed = await read(path, { token: person.token });
    expect(Object.keys(narrowed.body.data[0])).to.deep.equal(['name']);
    await untilCached(path, { token: person.token });
    await service.request('PATCH', `/users/${person.id}`, asAdmin({ body: { status: 'suspended' } }));
    expect((await read(path, { token: person.token })).status).to.equal(401);
    await service.request('PATCH', `/users/${person.id}`, asAdmin({ body: { status: 'active' } }));
    await untilCached(path, { token: person.token });
    await service.request('DELETE', `/permissions/${permission?.id}`, asAdmin());
    expect((await read(path, { token: person.token })).status).to.equal(403);
  });

  it('takes a change of the schema at once', async () => {
    const path = '/items/genre?limit=1';
    await untilCached(path);
    await service.request(
      'POST',
      '/fields/genre',
      asAdmin({ body: { field: 'mood', type: 'string', schema: { default_value: 'calm' } } }),
    );
    expect((await read(path)).body.data[0].mood).to.equal('calm');
    await service.request('DELETE', '/fields/genre/mood', asAdmin());
    expect((await read(path)).body.data[0]).to.not.have.property('mood');
  });

  it('POST /utils/cache/clear forgets all answers, for admins only', async () => {
    await untilCached('/items/genre?limit=1');
    expect((await service.request('POST', '/utils/cache/clear')).status).to.equal(403);
    const cleared = await service.request('POST', '/utils/cache/clear', asAdmin());
    expect([cleared.status, cleared.body]).to.deep.equal([200, undefined]);
    expect(await statusOf('/items/genre?limit=1')).to.equal('MISS');
  });

  it('compresses a large answer in memory, for clients that accept it', async () => {
    const path = '/items/track?limit=1000';
    const plain = await read(path);
    await untilCached(path);
    const compressed = await fetch(service.url + path, {
      headers: { authorization: `Bearer ${service.admin.token}`, 'accept-encoding': 'gzip' },
    });
    expect(compressed.headers.get('content-encoding')).to.equal('gzip');
    expect(await compressed.json()).to.deep.equal(plain.body);
    const identity = await read(path, asAdmin({ headers: { 'accept-encoding': 'identity' } }));
    expect(identity.headers.get(STATUS)).to.equal('HIT');
    expect(identity.headers.get('content-encoding')).to.equal(null);
    expect(identity.body).to.deep.equal(plain.body);
  });

  it('concurrent misses make one read', async () => {
    const path = '/items/customer?limit=3';
    await untilCached(path);
    await service.request('POST', '/utils/cache/clear', asAdmin());
    await untilCached(path);
    await service.request('PATCH', '/items/customer/1', asAdmin({ body: { city: 'x' } }));
    const replies = await Promise.all(Array.from({ length: 20 }, () => read(path)));
    expect(replies.filter(({ headers }) => headers.get(STATUS) === 'MISS')).to.have.length(1);
    expect(new Set(replies.map(({ body }) => JSON.stringify(body))).size).to.equal(1);
  });

  it('GET /server/health has cache:responseTime', async () => {
    const { body } = await service.request('GET', '/server/health', asAdmin());
    expect(body.checks['cache:responseTime'][0]).to.include({ componentType: 'cache', status: 'ok', threshold: 150 });
  });
});

describe('the settings of the response cache', function () {
  this.timeout(120_000);
  let database: FreshDatabase;
  let service: InProcessService;
  let probe: TestComposition;
  let listen: () => () => void;
  before(async () => {
    database = await createMigratedDatabase('cache_settings');
    await database.query(`create table note (id int primary key, text text); create table counter (id int primary key, n int);
      insert into note select n, repeat('x', 2000) from generate_series(1, 5) n; insert into counter values (1, 1)`);
    probe = await writeTestPluginPackages([
      {
        name: 'probe',
        manifest: { capabilities: { events: { filter: ['note.items.read'] } } },
        register(host) {
          listen = () => host.events.onFilter('note.items.read', (rows) => rows);
        },
      },
    ]);
    service = await startService({
      env: {
        ...env,
        CACHE_MEMORY_MAX_SIZE: '1mb',
        CACHE_VALUE_MAX_SIZE: '8kb',
        CACHE_CONTROL_S_MAXAGE: '60',
        CACHE_AUTO_PURGE_IGNORE_LIST: 'counter',
        CACHE_SKIP_ALLOWED: 'true',
        IP_TRUST_PROXY: '1',
      },
      database,
      plugins: probe.composition.plugins,
    });
    for (const collection of ['note', 'counter'])
      await service.request('POST', '/permissions', {
        token: service.admin.token,
        body: { role: PUBLIC_ROLE_ID, collection, action: 'read', fields: ['*'], permissions: null },
      });
  });
  after(async () => {
    await service?.stop();
    await probe?.remove();
    await database?.drop();
  });

  const readFrom = (address: string, path: string, headers: Record<string, string> = {}) =>
    service.request('GET', path, { headers: { 'x-forwarded-for': address, ...headers } });
  const untilCached = (path: string, address = '10.0.0.1') =>
    until(async () => {
      const reply = await readFrom(address, path);
      return reply.headers.get(STATUS) === 'HIT' && reply;
    });

  it('an answer to the public may be used by proxies for CACHE_CONTROL_S_MAXAGE', async () => {
    const { headers } = await untilCached('/items/note/1');
    expect(headers.get('cache-control')).to.match(/^public, max-age=\d+, s-maxage=60$/);
    expect(headers.get('vary')).to.include('Authorization');
  });

  it('a client passes the cache by Cache-Control: no-store', async () => {
    await untilCached('/items/note/1');
    const reply = await readFrom('10.0.0.1', '/items/note/1', { 'cache-control': 'no-store' });
    expect(reply.headers.get(STATUS)).to.equal(null);
  });

  it('an answer over CACHE_VALUE_MAX_SIZE is not kept', async () => {
    for (let time = 0; time < 4; time++)
      expect((await readFrom('10.0.0.1', '/items/note')).headers.get(STATUS)).to.equal(null);
  });

  it('a change of a collection of CACHE_AUTO_PURGE_IGNORE_LIST forgets nothing and needs no trigger', async () => {
    await untilCached('/items/counter/1');
    await database.query('update counter set n = 2');
    expect((await untilCached('/items/counter/1')).body.data.n).to.equal(1);
    expect(await database.query(`select from pg_trigger where tgrelid = 'counter'::regclass`)).to.have.length(0);
  });

  it('an answer is not used while a plugin listens to reads of its collection', async () => {
    await untilCached('/items/note/2');
    const remove = listen();
    for (let time = 0; time < 3; time++)
      expect((await readFrom('10.0.0.1', '/items/note/2')).headers.get(STATUS)).to.equal(null);
    remove();
    await untilCached('/items/note/2');
  });

  it('a client that asks for everything replaces no answer that others use', async () => {
    await untilCached('/items/note/3');
    expect((await readFrom('10.0.0.2', '/items/note/3')).headers.get(STATUS)).to.equal('HIT');
    for (let at = 0; at < 500; at++) {
      await readFrom('10.0.0.9', `/items/note/4?fields=text&filter[id][_gt]=-${at}`);
    }
    expect((await readFrom('10.0.0.1', '/items/note/3')).headers.get(STATUS)).to.equal('HIT');
    // The first of its own answers are gone.
    const { headers } = await readFrom('10.0.0.9', '/items/note/4?fields=text&filter[id][_gt]=-0');
    expect(headers.get(STATUS)).to.equal('MISS');
  });

  it('settings that make no sense stop the start with a remedy', async () => {
    const settings: readonly Record<string, string>[] = [
      { CACHE_VALUE_MAX_SIZE: 'large' },
      { CACHE_VALUE_MAX_SIZE: '60mb' },
      { CACHE_STATUS_HEADER: 'x cache' },
      { CACHE_STORE: 'redis' },
      { CACHE_NAMESPACE: 'a b' },
    ];
    for (const wrong of settings) {
      const started = await startService({ env: { CACHE_ENABLED: 'true', ...wrong }, database }).catch(
        (error) => error,
      );
      expect(started.remedy, JSON.stringify(wrong)).to.be.a('string');
    }
  });

  it('with CACHE_AUTO_PURGE clients ask each time', async () => {
    const exact = await startService({ env: { ...env, CACHE_AUTO_PURGE: 'true' }, database });
    try {
      const reply = await until(async () => {
        const one = await exact.request('GET', '/items/note/1');
        return one.headers.get(STATUS) === 'HIT' && one;
      });
      expect(reply.headers.get('cache-control')).to.equal('no-cache');
    } finally {
      await exact.stop();
    }
  });

  it('the listening connection is lost: nothing is used, and a change meanwhile is seen', async () => {
    await untilCached('/items/note/5');
    await database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where query ilike '%pg_notify%' and datname = current_database() and pid <> pg_backend_pid()`,
    );
    await database.query(`update note set text = 'meanwhile' where id = 5`);
    await until(async () => (await readFrom('10.0.0.1', '/items/note/5')).body.data.text === 'meanwhile');
    expect((await untilCached('/items/note/5')).body.data.text).to.equal('meanwhile');
  });
});

describe('a service whose response cache is off', function () {
  this.timeout(60_000);

  it('puts no trigger on a table, and answers POST /utils/cache/clear', async () => {
    const service = await startService();
    try {
      const { token } = service.admin;
      for (let time = 0; time < 3; time++) {
        const { headers } = await service.request('GET', '/users', { token });
        expect(headers.get('cache-control')).to.equal('no-cache');
      }
      expect((await service.request('POST', '/utils/cache/clear', { token })).status).to.equal(200);
      const found = await service.database.query(`select from pg_trigger where tgname = 'platform_rows_changed'`);
      expect(found).to.have.length(0);
      const { body } = await service.request('GET', '/server/health', { token });
      expect(body.checks).to.not.have.property('cache:responseTime');
    } finally {
      await service.stop();
    }
  });
});
