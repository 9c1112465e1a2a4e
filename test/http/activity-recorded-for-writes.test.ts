import { expect } from 'chai';
import pg from 'pg';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { createUserWithPermissions, requestAsAdmin } from './test-users.ts';

type Row = Record<string, unknown>;

describe('activity and revisions recorded for writes', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  let me: string;
  before(async () => {
    database = await createMigratedDatabase('activity');
    await database.query(`
      create table author (id serial primary key, name text not null, boss int references author);
      create table article (id serial primary key, title text, author int references author, changed_by_trigger text);
      create table note (id uuid primary key default gen_random_uuid(), text text, article int references article);
      create table kept (id bigserial primary key, price numeric(10,2), at timestamptz, day date, doc json, words text,
        secret text, pin varchar(255), bits int[], "odd ""name\\" text, up int references author);
      create table quiet (id serial primary key, name text, article int references article);
      create table silent (id serial primary key, name text);
      create table lengthy (name text primary key, n int);
      create function mark() returns trigger language plpgsql as $$
        begin new.changed_by_trigger := upper(new.title); return new; end $$;
      create trigger mark before update on article for each row execute function mark();
    `);
    service = await startService({ database });
    const admin = (method: string, path: string, body: unknown) => requestAsAdmin(service, method, path, body);
    for (const [one, field, many, key] of [
      ['author', 'articles', 'article', 'author'],
      ['article', 'notes', 'note', 'article'],
      ['article', 'quiets', 'quiet', 'article'],
    ] as const) {
      await admin('POST', `/fields/${one}`, { field, type: 'alias', meta: { special: ['o2m'] } });
      await admin('PATCH', `/relations/${many}/${key}`, { meta: { one_field: field } });
    }
    for (const [field, ...special] of [
      ['words', 'cast-csv'],
      ['secret', 'conceal'],
      ['pin', 'hash', 'conceal'],
    ])
      await admin('PATCH', `/fields/kept/${field}`, { meta: { special } });
    await admin('PATCH', '/collections/quiet', { meta: { accountability: 'activity' } });
    await admin('PATCH', '/collections/silent', { meta: { accountability: null } });
    me = (await admin('GET', '/users/me?fields=id', undefined)).id;
  });
  beforeEach(() =>
    database.query(
      'truncate author, article, note, kept, quiet, silent, lengthy, platform_activity, platform_revisions restart identity cascade',
    ),
  );
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  const send = (method: string, path: string, body?: unknown, token = service.admin.token, headers = {}) =>
    service.request(method, path, { token, body, headers });
  const ok = async (method: string, path: string, body?: unknown, token?: string) => {
    const reply = await send(method, path, body, token);
    expect(reply.status, `${method} ${path} ${JSON.stringify(reply.body)}`).to.be.within(200, 204);
    return reply.body?.data;
  };
  const activity = () => database.query('select * from platform_activity order by id');
  const readListeners = async () =>
    (await activity()).map((row) => `${row.action} ${row.collection} ${row.item}`).sort();
  const revisions = (): Promise<Row[]> => ok('GET', '/revisions?sort=id&limit=-1');
  const revisionOf = async (collection: string, item: string) =>
    (await revisions()).filter((row) => row.collection === collection && row.item === item).at(-1) as Row;

  it('records one activity row for each change, with the user, IP address and user agent', async () => {
    await send('POST', '/items/author', { name: 'A' }, service.admin.token, {
      'user-agent': 'x'.repeat(300),
      origin: 'https://site.example',
    });
    await ok('PATCH', '/items/author/1', { name: 'B' });
    await ok('DELETE', '/items/author/1');
    const rows = await activity();
    expect(rows.map(({ action, collection, item }) => [action, collection, item])).to.deep.equal([
      ['create', 'author', '1'],
      ['update', 'author', '1'],
      ['delete', 'author', '1'],
    ]);
    expect(rows[0]).to.include({
      user: me,
      ip: '127.0.0.1',
      user_agent: 'x'.repeat(255),
      origin: 'https://site.example',
      owner: null,
      comment: null,
    });
    expect(Date.now() - Number(rows[0]?.timestamp)).to.be.within(-1000, 60_000);
    const invocations = rows.map((row) => row.invocation);
    expect(new Set(invocations).size).to.equal(3);
    expect(invocations.every((one) => typeof one === 'string' && one !== '')).to.equal(true);
  });

  it('records the user of each request, and null for an anonymous caller', async () => {
    const { token, id } = await createUserWithPermissions(service, [{ collection: 'author', action: 'create' }]);
    const anonymous = await service.request('GET', '/roles?filter[key]=public', { token: service.admin.token });
    const grant = { role: anonymous.body.data[0].id, collection: 'author', action: 'create', fields: ['*'] };
    const created = await ok('POST', '/permissions', grant);
    await ok('POST', '/items/author', { name: 'A' }, token);
    expect((await service.request('POST', '/items/author', { body: { name: 'B' } })).status).to.equal(204);
    await ok('DELETE', `/permissions/${created.id}`);
    const users = (await activity()).filter((row) => row.collection === 'author').map((row) => row.user);
    expect(users).to.deep.equal([id, null]);
    await ok('DELETE', `/users/${id}`);
    expect((await activity()).find((row) => row.collection === 'author')?.user).to.equal(id);
  });

  it('records the whole row after each change, and the delta', async () => {
    await ok('POST', '/items/author', { name: 'A' });
    await ok('PATCH', '/items/author/1', { name: 'B', boss: 1 });
    await ok('PATCH', '/items/author/1', { name: 'B', boss: null });
    expect((await revisions()).map(({ data, delta, parent }) => ({ data, delta, parent }))).to.deep.equal([
      { data: { id: 1, name: 'A', boss: null }, delta: { id: 1, name: 'A', boss: null }, parent: null },
      { data: { id: 1, name: 'B', boss: 1 }, delta: { name: 'B', boss: 1 }, parent: null },
      { data: { id: 1, name: 'B', boss: null }, delta: { boss: null }, parent: null },
    ]);
    expect((await revisions()).map((row) => row.activity)).to.deep.equal((await activity()).map((row) => row.id));
  });

  it('records no revision for a change that changes nothing, nor for a delete', async () => {
    await ok('POST', '/items/author', { name: 'A' });
    await ok('PATCH', '/items/author/1', { name: 'A' });
    await ok('PATCH', '/items/author/1', {});
    await ok('DELETE', '/items/author/1');
    expect((await activity()).map((row) => row.action)).to.deep.equal(['create', 'update', 'update', 'delete']);
    expect(await revisions()).to.have.length(1);
  });

  it('records what a database trigger changed in the revision', async () => {
    await ok('POST', '/items/article', { title: 'a' });
    await ok('PATCH', '/items/article/1', { title: 'b' });
    expect((await revisionOf('article', '1')).delta).to.deep.equal({ title: 'b', changed_by_trigger: 'B' });
  });

  it('records values in the form in which the API reads them', async () => {
    const created = await ok('POST', '/items/kept', {
      price: '12.50',
      at: '2026-01-31T13:30:00+02:00',
      day: '2026-01-31',
      doc: { a: [1] },
      words: ['x', 'y'],
      bits: [1, 2],
      'odd "name\\': 'z',
    });
    expect((await revisionOf('kept', '1')).data).to.deep.equal(created);
    await ok('PATCH', '/items/kept/1', { 'odd "name\\': "it's", price: 12.5, doc: { a: [2] }, words: [] });
    expect((await revisionOf('kept', '1')).delta).to.deep.equal({ 'odd "name\\': "it's", doc: { a: [2] }, words: [] });
  });

  it('records that a secret changed, never its value', async () => {
    await ok('POST', '/items/kept', { secret: 'clear text', pin: 'pin 1234' });
    await ok('PATCH', '/items/kept/1', { secret: 'other text', pin: '**********' });
    await ok('PATCH', '/items/kept/1', { secret: null });
    expect((await revisions()).map((row) => row.delta)).to.deep.equal([
      { ...((await revisions())[0]?.data as Row), secret: '**********', pin: '**********' },
      { secret: '**********' },
      { secret: null },
    ]);
    await createUserWithPermissions(service, []);
    expect(JSON.stringify(await revisions())).not.to.match(/clear text|other text|pin 1234|argon2/);
    const user = (await revisions()).find((row) => row.collection === 'platform_users')?.data as Row;
    expect(user).to.include({ token: '**********', status: 'active', password: null });
  });

  it('links revisions of nested rows to the revision of their parent row, on both sides of the row', async () => {
    await ok('POST', '/items/article', [
      { title: 'one', author: { name: 'A', boss: { name: 'Root' } }, notes: [{ text: 'n1' }, { text: 'n2' }] },
      { title: 'two', author: { name: 'B' }, notes: [{ text: 'n3' }] },
    ]);
    const rows = await revisions();
    const named = new Map(
      rows.map((row) => [row.id, (row.data as Row).title ?? (row.data as Row).name ?? (row.data as Row).text]),
    );
    const tree = Object.fromEntries(rows.map((row) => [named.get(row.id), named.get(row.parent) ?? null]));
    expect(tree).to.deep.equal({
      one: null,
      two: null,
      A: 'one',
      B: 'two',
      Root: 'A',
      n1: 'one',
      n2: 'one',
      n3: 'two',
    });
    expect(new Set((await activity()).map((row) => row.invocation)).size).to.equal(1);
  });

  it('links revisions of nested rows that are changed, taken over, unlinked and deleted', async () => {
    await ok('POST', '/items/author', [{ name: 'A', articles: [{ title: 'a' }, { title: 'b' }] }, { name: 'B' }]);
    await database.query('truncate platform_activity, platform_revisions cascade');
    await ok('PATCH', '/items/author/2', { articles: [1, { title: 'c' }] });
    const [outer] = (await revisions()).filter((row) => row.collection === 'author');
    // The author has a revision with an empty delta, since only its articles changed.
    expect(outer).to.deep.include({ item: '2', delta: {}, parent: null });
    const nested = (await revisions()).filter((row) => row.collection === 'article');
    expect(nested.map(({ item, parent }) => [item, parent])).to.have.deep.members([
      ['1', outer?.id],
      ['3', outer?.id],
    ]);
    await database.query('truncate platform_activity, platform_revisions cascade');
    await ok('PATCH', '/items/author', [
      { id: 1, articles: { update: [{ id: 2, title: 'B' }] } },
      { id: 2, articles: [{ id: 3, title: 'C' }] },
    ]);
    expect(await readListeners()).to.deep.equal([
      'update article 1',
      'update article 2',
      'update article 3',
      'update author 1',
      'update author 2',
    ]);
    const parents = new Map((await revisions()).map((row) => [row.id, row]));
    const links = [...parents.values()]
      .filter((row) => row.parent !== null)
      .map((row) => [row.item, parents.get(row.parent)?.collection, parents.get(row.parent)?.item]);
    expect(links).to.have.deep.members([
      ['2', 'author', '1'],
      ['3', 'author', '2'],
      ['1', 'author', '2'],
    ]);
    expect((await revisionOf('article', '1')).delta).to.deep.equal({ author: null });
  });

  it('records by the accountability of the collection: everything, activity alone, or nothing', async () => {
    await ok('POST', '/items/quiet', { name: 'a', article: { title: 't' } });
    await ok('PATCH', '/items/quiet/1', { name: 'b' });
    await ok('POST', '/items/silent', [{ name: 'a' }, { name: 'b' }]);
    await ok('PATCH', '/items/silent', { keys: [1, 2], data: { name: 'c' } });
    await ok('DELETE', '/items/silent/1');
    expect(await readListeners()).to.deep.equal(['create article 1', 'create quiet 1', 'update quiet 1']);
    // The collection of the article’s parent row is not recorded, so the article’s revision has no parent.
    expect((await revisions()).map(({ collection, parent }) => [collection, parent])).to.deep.equal([
      ['article', null],
    ]);
    await ok('PATCH', '/items/article/1', { title: 't2', quiets: [{ name: 'nested' }] });
    expect(await database.query('select name from quiet order by 1')).to.deep.equal([
      { name: 'b' },
      { name: 'nested' },
    ]);
  });

  it('records nothing for a write that was rolled back', async () => {
    await ok('POST', '/items/author', { name: 'A' });
    await database.query('truncate platform_activity, platform_revisions cascade');
    const { token } = await createUserWithPermissions(service, [
      { collection: 'author', action: 'update', permissions: { name: { _eq: 'mine' } } },
      { collection: 'author', action: 'delete', permissions: { name: { _eq: 'mine' } } },
    ]);
    await database.query('truncate platform_activity, platform_revisions cascade');
    for (const [method, path, body, as] of [
      ['POST', '/items/author', { name: 'B', articles: [{ title: 'a' }, { id: 'wrong' }] }],
      ['POST', '/items/article', { title: 'x', author: { name: 'C', boss: 99 } }],
      ['POST', '/items/article', { title: 'x', author: 99 }],
      ['POST', '/items/article', [{ title: 'x' }, { title: 'y', author: 99 }]],
      ['PATCH', '/items/author/1', { name: 'C', articles: { delete: [5] } }],
      ['PATCH', '/items/author/99', { name: 'C' }],
      ['PATCH', '/items/author', { keys: [1, 99], data: { name: 'C' } }],
      [
        'PATCH',
        '/items/author',
        [
          { id: 1, name: 'C' },
          { id: 99, name: 'C' },
        ],
      ],
      ['PATCH', '/items/author/1', { name: 'C' }, token],
      ['DELETE', '/items/author/1', undefined, token],
    ] as const) {
      const { status } = await send(method, path, body, as);
      expect(status, `${method} ${path} ${JSON.stringify(body)}`).to.be.within(400, 403);
    }
    expect([await activity(), await revisions()]).to.deep.equal([[], []]);
    expect(await database.query('select name from author')).to.deep.equal([{ name: 'A' }]);
  });

  it('records the true delta of a row that another request changes at the same moment', async () => {
    await ok('POST', '/items/author', [{ name: 'A' }, { name: 'Root' }]);
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    try {
      await other.query('begin');
      await other.query('update author set boss = 2 where id = 1');
      const change = ok('PATCH', '/items/author/1', { name: 'B' });
      await waiting(database);
      await other.query('commit');
      await change;
    } finally {
      await other.end();
    }
    const { data, delta } = await revisionOf('author', '1');
    expect({ data, delta }).to.deep.equal({ data: { id: 1, name: 'B', boss: 2 }, delta: { name: 'B' } });
  });

  it('records rows whose keys are longer than the column for the key', async () => {
    const name = 'é'.repeat(300);
    await ok('POST', '/items/lengthy', [{ name }, { name: `${name}2`, n: 1 }]);
    await ok('PATCH', '/items/lengthy', [
      { name, n: 2 },
      { name: `${name}2`, n: 3 },
    ]);
    expect((await activity()).map((row) => row.item)).to.deep.equal(Array(4).fill('é'.repeat(255)));
    expect((await revisions()).map((row) => (row.delta as Row).n)).to.have.members([null, 1, 2, 3]);
  });

  it('records a row under one key, whichever way the requests write its key', async () => {
    await database.query('create table priced (price numeric(6,2) primary key, n int)');
    await database.query(
      'create table offer (id serial primary key, priced numeric(6,2) references priced, name text)',
    );
    await ok('POST', '/fields/priced', { field: 'offers', type: 'alias', meta: { special: ['o2m'] } });
    await ok('PATCH', '/relations/offer/priced', { meta: { one_field: 'offers' } });
    await ok('POST', '/items/priced', [
      { price: '1.50', offers: [{ name: 'a' }] },
      { price: '2', offers: [{ name: 'b' }] },
    ]);
    await ok('PATCH', '/items/priced', [
      { price: '1.5', n: 1, offers: [{ name: 'c' }] },
      { price: '2.0', n: 2, offers: { create: [{ name: 'd' }], delete: [2] } },
    ]);
    const offers = await database.query('select name, priced from offer order by name');
    expect(offers.map(({ name, priced }) => `${name} ${priced}`)).to.deep.equal([
      'a null',
      'b null',
      'c 1.50',
      'd 2.00',
    ]);
    const rows = await revisions();
    const outer = rows.filter((row) => row.collection === 'priced').slice(2);
    expect(outer.map(({ item, delta }) => [item, delta])).to.deep.equal([
      ['1.50', { n: 1 }],
      ['2.00', { n: 2 }],
    ]);
    const parents = rows
      .filter((row) => row.collection === 'offer')
      .slice(2)
      .map((row) => row.parent);
    expect(new Set(parents)).to.deep.equal(new Set(outer.map((row) => row.id)));
  });

  it('records what a trigger changed, also a trigger created a moment ago', async () => {
    await database.query('create table watched (id serial primary key, name text, shout text)');
    const changes = async (name: string) => {
      await ok('PATCH', '/items/watched/1', { name });
      return (await revisionOf('watched', '1')).delta;
    };
    await ok('POST', '/items/watched', { name: 'a' });
    expect(await changes('b')).to.deep.equal({ name: 'b' });
    await database.query(`create function shout() returns trigger language plpgsql as $$
      begin new.shout := upper(new.name); return new; end $$;
      create trigger shout before update on watched for each row execute function shout()`);
    // The service learns of the new trigger by a notification, which may take a moment.
    await until(async () => JSON.stringify(await changes(`c${Math.random()}`)).includes('shout'));
    await database.query('drop table watched; drop function shout');
  });

  it('records logins', async () => {
    const { email, password } = service.admin;
    expect((await service.request('POST', '/auth/login', { body: { email, password: 'wrong' } })).status).to.equal(401);
    expect((await service.request('POST', '/auth/login', { body: { email, password } })).status).to.equal(200);
    const rows = await activity();
    expect(rows).to.have.length(1);
    expect(rows[0]).to.include({ action: 'login', collection: 'platform_users', item: me, user: me, ip: '127.0.0.1' });
  });

  it('is deleted when its collection is deleted', async () => {
    await ok('POST', '/collections', { collection: 'brief', schema: {}, fields: [] });
    await ok('POST', '/items/brief', {});
    await ok('POST', '/items/author', { name: 'A' });
    await ok('DELETE', '/collections/brief');
    expect(await readListeners()).to.deep.equal(['create author 1']);
    expect((await revisions()).map((row) => row.collection)).to.deep.equal(['author']);
  });

  it('is served with its revisions and users', async () => {
    await ok('POST', '/items/author', { name: 'A', articles: [{ title: 'a' }] });
    const { items } = await ok('GET', '/collections/platform_activity').then((one) => ({ items: one }));
    expect(items.meta.accountability).to.equal(null);
    const fields = await ok('GET', '/fields/platform_activity');
    expect(fields.map(({ field }: Row) => field)).to.include.members(['owner', 'invocation', 'revisions', 'user']);
    const relations = await ok('GET', '/relations/platform_activity');
    expect(relations).to.have.length(1);
    expect(relations[0]).to.deep.include({ field: 'user', related_collection: 'platform_users', schema: null });
  });
});

/** Resolves once a statement in this database waits for a lock. */
async function waiting(database: FreshDatabase): Promise<void> {
  const deadline = Date.now() + 30_000;
  const waits = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  while ((await database.query(waits)).length === 0) {
    if (Date.now() > deadline) throw new Error('nothing waits');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
