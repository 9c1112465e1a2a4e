import { expect } from 'chai';
import { recordStatementsDuring } from '../support/capture-sql-statements.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { createUserWithPermissions, requestAsAdmin } from './test-users.ts';

type Row = Record<string, unknown>;
type FieldOf = { field: string; schema?: { is_primary_key: boolean } | null };

const TABLES = `
  create table film (film_id int primary key, title text not null);
  create table actor (actor_id serial primary key, name text not null);
  create table film_actor (film_id int not null references film on delete cascade, actor_id int not null references actor,
    role text, billing int default 1, primary key (film_id, actor_id));
  create table note (id serial primary key, film_id int, actor_id int, body text,
    constraint note_of_part foreign key (actor_id, film_id) references film_actor (actor_id, film_id));
  create table place (country text, name text, at timestamptz, kind uuid, size int, primary key (country, name));
  create table moment (at timestamptz not null, local timestamp not null, n int, primary key (at, local));
  create table measured (at timestamptz not null, sensor int not null, value int, primary key (sensor, at)) partition by range (at);
  create table measured_2026 partition of measured for values from ('2026-01-01') to ('2027-01-01');
  create table measured_rest partition of measured default;
  create table heap (word text, n int);
  create table split_heap (word text, n int) partition by list (n);
  create table split_heap_1 partition of split_heap for values in (1);
  create table split_heap_rest partition of split_heap default;
  create table by_code (code text not null unique, label text);
  create table odd_key (n numeric, d date, b bytea, w int, primary key (n, d, b));
  insert into odd_key values ('NaN', 'infinity', ''), ('Infinity', '2026-01-01', '\\x00ff'), (1, '-infinity', '\\x01');
  create table in_place (id serial primary key, country text, name text, foreign key (country, name) references place);
  create table shelf (id int primary key);
  create table slot (shelf int references shelf, pos numeric(6,2), label text, primary key (shelf, pos));
  insert into shelf values (1);
  create table tenant (id int primary key);
  create table branch (tenant int references tenant, id int, name text, boss int, primary key (tenant, id),
    foreign key (tenant, boss) references branch (tenant, id));
  insert into film select n, 'film ' || n from generate_series(1, 5) n;
  insert into actor (name) select 'actor ' || n from generate_series(1, 5) n;
  insert into film_actor (film_id, actor_id, role) select f, a, 'role ' || f || a from generate_series(1, 3) f, generate_series(1, 3) a;
  insert into note (film_id, actor_id, body) values (1, 2, 'first'), (1, 2, 'second'), (3, 1, 'third'), (null, 1, 'none');
  insert into place (country, name, size) values ('a,b', 'c', 1), ('a', 'b,c', 2), ('~1', '~0,', 3), ('', '', 4), ('de', 'Köln / Süd %2C', 5);
  insert into moment values ('2026-03-04 05:06:07.123456+00', '2026-03-04 05:06:07.000001', 1), ('infinity', '2026-01-01', 2);
  insert into measured select '2026-02-01'::timestamptz + n * interval '1 day', n % 2, n from generate_series(0, 9) n;
  insert into measured values ('2030-01-01', 7, 100);
  insert into heap values ('a', 1), ('b', 2), ('b', 3);
  insert into split_heap values ('a', 1), ('b', 2), ('c', 3);
  insert into by_code values ('x', 'one');
  insert into tenant values (1), (2);
  insert into branch values (1, 1, 'head', null), (1, 2, 'north', 1), (2, 1, 'other', null)`;

describe('/items of tables with composite keys', () => {
  let service: InProcessService;
  before(async () => {
    service = await startService();
    await service.database.query(TABLES);
    await requestAsAdmin(service, 'POST', '/fields/film', {
      field: 'parts',
      type: 'alias',
      meta: { special: ['o2m'] },
    });
    await requestAsAdmin(service, 'PATCH', '/relations/film_actor/film_id', {
      meta: { one_field: 'parts', junction_field: 'actor_id' },
    });
    await requestAsAdmin(service, 'POST', '/fields/film_actor', {
      field: 'notes',
      type: 'alias',
      meta: { special: ['o2m'] },
    });
    await requestAsAdmin(service, 'POST', '/fields/shelf', {
      field: 'slots',
      type: 'alias',
      meta: { special: ['o2m'] },
    });
    await requestAsAdmin(service, 'PATCH', '/relations/slot/shelf', { meta: { one_field: 'slots' } });
    await requestAsAdmin(service, 'PATCH', '/relations/note/film_actor', { meta: { one_field: 'notes' } });
  });
  after(() => service?.stop());

  const get = (path: string) => requestAsAdmin(service, 'GET', path);
  const send = (method: string, path: string, body?: unknown, token = service.admin.token) =>
    service.request(method, path, { token, body });
  const write = (method: string, path: string, body?: unknown) => requestAsAdmin(service, method, path, body);
  const rows = (text: string) => service.database.query(text);
  const filter = (one: object) => `filter=${encodeURIComponent(JSON.stringify(one))}`;

  describe('GET', () => {
    it('lists the rows in the order of the key', async () => {
      const found = await get('/items/film_actor?fields=film_id,actor_id&limit=4');
      expect(found.map(Object.values)).to.deep.equal([
        [1, 1],
        [1, 2],
        [1, 3],
        [2, 1],
      ]);
    });

    it('reads a row by its key, whichever way its parts are written', async () => {
      for (const key of ['2,3', '02,3', '2,003'])
        expect(await get(`/items/film_actor/${key}`)).to.include({ film_id: 2, actor_id: 3, role: 'role 23' });
    });

    it('finds rows whose key texts are empty or have commas, tildes and slashes', async () => {
      for (const [key, size] of [
        ['a~1b,c', 1],
        ['a,b~1c', 2],
        ['~01,~00~1', 3],
        [',', 4],
        ['de,Köln / Süd %2C', 5],
      ] as const)
        expect(await get(`/items/place/${encodeURIComponent(key)}`), key).to.include({ size });
    });

    it('finds timestamps in keys to the microsecond', async () => {
      expect(await get('/items/moment/2026-03-04T05:06:07.123456Z,2026-03-04T05:06:07.000001')).to.include({ n: 1 });
      expect(await get('/items/moment/2026-03-04T06:06:07.123456%2B01:00,2026-03-04 05:06:07.000001')).to.include({
        n: 1,
      });
      expect(await get('/items/moment/infinity,2026-01-01T00:00:00')).to.include({ n: 2 });
      expect((await send('GET', '/items/moment/2026-03-04T05:06:07.123Z,2026-03-04T05:06:07.000001')).status).to.equal(
        403,
      );
    });

    it('answers timestamps of a key in full, so that a key that was read finds its row', async () => {
      const [{ at, local }] = await get('/items/moment?fields=at,local&filter[n][_eq]=1');
      expect([at, local]).to.deep.equal(['2026-03-04T05:06:07.123456Z', '2026-03-04T05:06:07.000001']);
      expect(await write('SEARCH', '/items/moment', { keys: [{ at, local }] })).to.have.length(1);
      expect((await get('/items/measured?fields=at&limit=1'))[0]).to.deep.equal({ at: '2026-02-01T00:00:00.000Z' });
    });

    it('answers 403 for a text that is no key', async () => {
      for (const key of ['1', '1,2,3', 'a,b', '1,', ',', '1,99999999999', '9,9', '1.0,2'])
        expect((await send('GET', `/items/film_actor/${key}`)).status, key).to.equal(403);
    });

    it('reads rows by keys, as texts and as objects, in the order of the request', async () => {
      const found = await write('SEARCH', '/items/film_actor', {
        keys: ['3,1', { actor_id: 2, film_id: 1 }],
        query: { fields: ['role'] },
      });
      expect(found).to.deep.equal([{ role: 'role 31' }, { role: 'role 12' }]);
    });

    it('follows composite foreign keys to their row', async () => {
      expect(await get('/items/note/1?fields=film_actor,film_actor.role,film_actor.actor_id.name')).to.deep.equal({
        film_actor: { role: 'role 12', actor_id: { name: 'actor 2' } },
      });
      expect((await get('/items/note?fields=film_actor')).map(Object.values)).to.deep.equal([
        ['1,2'],
        ['1,2'],
        ['3,1'],
        [null],
      ]);
      expect(await get('/items/note/4?fields=film_actor.*')).to.deep.equal({ film_actor: null });
    });

    it('answers the rows behind an alias by their keys and as rows', async () => {
      expect(await get('/items/film/1?fields=parts')).to.deep.equal({ parts: ['1,1', '1,2', '1,3'] });
      expect(
        await get('/items/film/1?fields=parts.role,parts.notes&deep[parts][_filter][actor_id][_eq]=2'),
      ).to.deep.equal({
        parts: [{ role: 'role 12', notes: [1, 2] }],
      });
      expect(await get('/items/film_actor/1,2?fields=notes.body')).to.deep.equal({
        notes: [{ body: 'first' }, { body: 'second' }],
      });
    });

    it('filters by keys, through them and by related fields', async () => {
      const ids = async (one: object) =>
        (await get(`/items/note?fields=id&${filter(one)}`)).map(({ id }: { id: number }) => id);
      expect(await ids({ film_actor: { _eq: '1,2' } })).to.deep.equal([1, 2]);
      expect(await ids({ film_actor: '1,2' })).to.deep.equal([1, 2]);
      expect(await ids({ film_actor: { _neq: '1,2' } })).to.deep.equal([3]);
      expect(await ids({ film_actor: { _in: ['1,2', '3,1'] } })).to.deep.equal([1, 2, 3]);
      expect(await ids({ film_actor: { _nin: ['1,2'] } })).to.deep.equal([3]);
      expect(await ids({ film_actor: { _null: true } })).to.deep.equal([4]);
      expect(await ids({ film_actor: { _nnull: true } })).to.deep.equal([1, 2, 3]);
      expect(await ids({ film_actor: { role: { _ends_with: '31' } } })).to.deep.equal([3]);
      expect(await ids({ film_actor: { film_id: { title: { _eq: 'film 3' } } } })).to.deep.equal([3]);
      const films = async (one: object) =>
        (await get(`/items/film?fields=film_id&${filter(one)}`)).map(({ film_id }: { film_id: number }) => film_id);
      expect(await films({ parts: { notes: { body: { _eq: 'third' } } } })).to.deep.equal([3]);
      expect(await films({ parts: { _eq: '2,2' } })).to.deep.equal([2]);
      expect(await films({ parts: { _null: true } })).to.deep.equal([4, 5]);
      expect(await films({ '$FOLLOW(film_actor,film_id)': { actor_id: { _eq: 3 } } })).to.deep.equal([1, 2, 3]);
    });

    it('rejects operators and values that fit no key, with the path', async () => {
      for (const one of [{ _contains: '1' }, { _eq: '1' }, { _eq: 'a,b' }, { _in: ['1,2', 'x'] }]) {
        const { status, body } = await send('GET', `/items/note?${filter({ film_actor: one })}`);
        expect(status, JSON.stringify(one)).to.equal(400);
        expect(body.errors[0].extensions).to.include({ code: 'INVALID_QUERY' });
        expect(body.errors[0].extensions.path.slice(0, 2)).to.deep.equal(['filter', 'film_actor']);
      }
    });

    it('sorts through composite keys, groups by them and counts', async () => {
      expect((await get('/items/note?fields=id&sort=-film_actor.role,id&limit=2')).map(Object.values)).to.deep.equal([
        [4],
        [3],
      ]);
      expect(await get('/items/note?aggregate[count]=*&groupBy=film_actor&sort=film_actor')).to.have.length(3);
      expect(await get('/items/film_actor?aggregate[countDistinct]=*')).to.deep.equal([{ countDistinct: { '*': 9 } }]);
      const { body } = await send('GET', '/items/film_actor?meta=*&limit=1');
      expect(body.meta).to.deep.equal({ total_count: 9, filter_count: 9 });
    });

    it('reads partitioned tables by key', async () => {
      expect(await get('/items/measured/1,2026-02-02T00:00:00Z')).to.include({ value: 1 });
      expect(await get('/items/measured/7,2030-01-01T00:00:00Z')).to.include({ value: 100 });
    });

    it('describes the field of a composite foreign key', async () => {
      expect(await get('/relations/note/film_actor')).to.deep.include({ related_collection: 'film_actor' });
      expect((await get('/relations/note/film_actor')).schema).to.deep.include({
        constraint_name: 'note_of_part',
        columns: ['film_id', 'actor_id'],
        foreign_key_columns: ['film_id', 'actor_id'],
      });
      expect(await get('/fields/note/film_actor')).to.deep.include({ type: 'string', schema: null });
      expect(
        (await get('/fields/film_actor'))
          .filter((one: FieldOf) => one.schema?.is_primary_key)
          .map((one: FieldOf) => one.field),
      ).to.deep.equal(['film_id', 'actor_id']);
    });
  });

  describe('writes', () => {
    it('POST, PATCH and DELETE write a row by its key and record it under that key', async () => {
      expect(await write('POST', '/items/film_actor', { film_id: 4, actor_id: 1, role: 'x' })).to.include({
        film_id: 4,
        billing: 1,
      });
      expect(await write('PATCH', '/items/film_actor/4,1', { role: 'y', film_id: 4 })).to.include({ role: 'y' });
      expect(await write('PATCH', '/items/film_actor/4,1', { actor_id: 2 })).to.include({ actor_id: 2, role: 'y' });
      expect((await send('DELETE', '/items/film_actor/4,2')).status).to.equal(204);
      const activity = await rows(
        `select action, item from platform_activity where collection = 'film_actor' order by id desc limit 4`,
      );
      expect(activity.reverse()).to.deep.equal([
        { action: 'create', item: '4,1' },
        { action: 'update', item: '4,1' },
        { action: 'update', item: '4,2' },
        { action: 'delete', item: '4,2' },
      ]);
      const revisions = await rows(
        `select item, delta from platform_revisions where collection = 'film_actor' order by id desc limit 2`,
      );
      expect(revisions.reverse()).to.deep.equal([
        { item: '4,1', delta: { role: 'y' } },
        { item: '4,2', delta: { actor_id: 2 } },
      ]);
    });

    it('POST, PATCH and DELETE write many rows', async () => {
      const created = await write(
        'POST',
        '/items/film_actor',
        [4, 5].flatMap((film_id) => [1, 2].map((actor_id) => ({ film_id, actor_id }))),
      );
      expect(created.map(({ film_id, actor_id }: Row) => [film_id, actor_id])).to.deep.equal([
        [4, 1],
        [4, 2],
        [5, 1],
        [5, 2],
      ]);
      const changed = await write('PATCH', '/items/film_actor', [
        { film_id: 4, actor_id: 1, role: 'a' },
        { film_id: 5, actor_id: 2, role: 'b' },
      ]);
      expect(changed.map(({ role }: Row) => role)).to.deep.equal(['a', 'b']);
      await write('PATCH', '/items/film_actor', { keys: ['4,2', { film_id: 5, actor_id: 1 }], data: { role: 'c' } });
      await write('PATCH', '/items/film_actor', { query: { filter: { film_id: { _gte: 4 } } }, data: { billing: 7 } });
      expect(
        await rows(
          'select film_id as f, actor_id as a, role, billing as b from film_actor where film_id > 3 order by 1, 2',
        ),
      ).to.deep.equal([
        { f: 4, a: 1, role: 'a', b: 7 },
        { f: 4, a: 2, role: 'c', b: 7 },
        { f: 5, a: 1, role: 'c', b: 7 },
        { f: 5, a: 2, role: 'b', b: 7 },
      ]);
      expect((await send('DELETE', '/items/film_actor', ['4,1', { film_id: 4, actor_id: 2 }])).status).to.equal(204);
      expect((await send('DELETE', '/items/film_actor', { query: { filter: { film_id: 5 } } })).status).to.equal(204);
      expect(await rows('select from film_actor where film_id > 3')).to.have.length(0);
    });

    it('PATCH answers rows whose keys change in the order of the request', async () => {
      const created = [4, 5].map((film_id) => ({ film_id, actor_id: film_id - 3 }));
      await write('POST', '/items/film_actor', created);
      for (const [keys, actor_id] of [
        [['5,2', '4,1'], 3],
        [['4,3', '5,3'], 4],
      ] as const) {
        const changed = await write('PATCH', '/items/film_actor', { keys, data: { actor_id } });
        expect(changed.map((row: Row) => `${row.film_id},${row.actor_id}`)).to.deep.equal(
          keys.map((key) => `${key[0]},${actor_id}`),
        );
      }
      await write('DELETE', '/items/film_actor', ['4,4', '5,4']);
    });

    it('PATCH changes the keys of several rows to the key of a row created in the same request', async () => {
      const created = [4, 5].map((film_id) => ({ film_id, actor_id: 1 }));
      await write('POST', '/items/film_actor', created);
      const data = { actor_id: { actor_id: 70, name: 'late' } };
      expect(await write('PATCH', '/items/film_actor', { keys: ['5,1', '4,1'], data })).to.have.length(2);
      const children = await rows(
        `select r.item, p.item as above from platform_revisions r left join platform_revisions p on p.id = r.parent
          where r.collection = 'actor' and r.item = '70'`,
      );
      expect(children).to.deep.equal([{ item: '70', above: '5,70' }]);
      await write('DELETE', '/items/film_actor', ['4,70', '5,70']);
    });

    it('POST rejects rows without a part of the key and names the part', async () => {
      const { status, body } = await send('PATCH', '/items/film_actor', [{ film_id: 1, role: 'z' }]);
      expect([status, body.errors[0].extensions]).to.deep.equal([
        400,
        {
          code: 'INVALID_PAYLOAD',
          path: [0, 'actor_id'],
          reason: 'element 0 has no actor_id',
        },
      ]);
      expect((await send('POST', '/items/film_actor', { film_id: 1 })).status).to.equal(400);
      expect(
        (await send('POST', '/items/film_actor', { film_id: 1, actor_id: 1 })).body.errors[0].extensions.code,
      ).to.equal('RECORD_NOT_UNIQUE');
    });

    it('nested writes name rows by the key with the parent’s column in it', async () => {
      await write('POST', '/items/film', {
        film_id: 10,
        title: 'ten',
        parts: [
          { actor_id: 1, role: 'one' },
          { actor_id: { name: 'new' }, role: 'two' },
        ],
      });
      const created = await rows('select actor_id, role from film_actor where film_id = 10 order by 1');
      expect(created.map(({ role }) => role)).to.deep.equal(['one', 'two']);
      await write('PATCH', '/items/film/10', {
        parts: {
          create: [{ actor_id: 2 }],
          update: [{ actor_id: 1, role: 'changed' }],
          delete: [`10,${created[1]?.actor_id}`],
        },
      });
      expect(await rows('select actor_id as a, role from film_actor where film_id = 10 order by 1')).to.deep.equal([
        { a: 1, role: 'changed' },
        { a: 2, role: null },
      ]);
      await write('PATCH', '/items/film/10', {
        parts: ['10,1', { actor_id: 3, role: 'third' }, { film_id: 10, actor_id: 4 }],
      });
      expect(await get('/items/film/10?fields=parts')).to.deep.equal({ parts: ['10,1', '10,3', '10,4'] });
      await write('PATCH', '/items/film/10', { parts: [{ actor_id: { actor_id: 1, name: 'renamed' } }] });
      expect(await get('/items/film/10?fields=parts.actor_id.name,parts.role')).to.deep.equal({
        parts: [{ actor_id: { name: 'renamed' }, role: 'changed' }],
      });
      await write('PATCH', '/items/film/10', { parts: [] });
      expect(await rows('select from film_actor where film_id = 10')).to.have.length(0);
    });

    it('PATCH finds every row whose key the service itself rendered', async () => {
      const query = { filter: { d: { _nnull: true } } };
      expect(await write('PATCH', '/items/odd_key', { query, data: { w: 1 } })).to.have.length(3);
      const found = await get('/activity?filter[collection][_eq]=odd_key&fields=item');
      expect(found).to.have.length(3);
      for (const { item } of found)
        expect(await get(`/items/odd_key/${encodeURIComponent(item)}`), item).to.include({ w: 1 });
      const { n, d, b } = (await get('/items/odd_key')).find((row: Row) => row.b === '');
      expect(await write('SEARCH', '/items/odd_key', { keys: [{ n, d, b }] })).to.have.length(1);
    });

    it('PATCH sets composite foreign keys to a key with an empty part', async () => {
      expect(await write('POST', '/items/in_place', { place: ',' })).to.include({ country: '', name: '', place: ',' });
    });

    it('a nested list keeps rows whose key is written in another way than the stored one', async () => {
      await rows(`delete from slot; insert into slot values (1, 1.5, 'a'), (1, 2, 'b')`);
      const set = async (slots: unknown) => {
        await write('PATCH', '/items/shelf/1', { slots });
        return (await rows('select pos, label from slot order by 1')).map((one) => Object.values(one));
      };
      const both = [
        ['1.50', 'a'],
        ['2.00', 'b'],
      ];
      expect(await set(['1,1.5', '1,2.00'])).to.deep.equal(both);
      expect(await set([{ pos: 1.5 }, { shelf: 1, pos: '2' }])).to.deep.equal(both);
      expect(await set([{ pos: 1.5, label: 'c' }, '1,2'])).to.deep.equal([['1.50', 'c'], both[1]]);
      expect(await set({ create: [], update: [{ pos: 1.5, label: 'd' }], delete: ['1,2'] })).to.deep.equal([
        ['1.50', 'd'],
      ]);
    });

    it('PATCH sets composite foreign keys by text, object and null', async () => {
      const { id } = await write('POST', '/items/note', { body: 'n', film_actor: '2,1' });
      const read = () => get(`/items/note/${id}?fields=film_id,actor_id,film_actor`);
      expect(await read()).to.deep.equal({ film_id: 2, actor_id: 1, film_actor: '2,1' });
      await write('PATCH', `/items/note/${id}`, { film_actor: null });
      expect(await read()).to.deep.equal({ film_id: null, actor_id: null, film_actor: null });
      await write('PATCH', `/items/note/${id}`, { film_actor: { film_id: 2, actor_id: 2, role: 'by note' } });
      expect(await read()).to.deep.equal({ film_id: 2, actor_id: 2, film_actor: '2,2' });
      expect(await get('/items/film_actor/2,2')).to.include({ role: 'by note' });
      await write('PATCH', '/items/film_actor/2,2', { notes: [{ body: 'below' }] });
      expect(await get('/items/film_actor/2,2?fields=notes.body')).to.deep.equal({ notes: [{ body: 'below' }] });
      expect(await read()).to.include({ film_actor: null });
      expect((await send('PATCH', `/items/note/${id}`, { film_actor: '2,9' })).body.errors[0].extensions.code).to.equal(
        'INVALID_FOREIGN_KEY',
      );
      expect((await send('PATCH', `/items/note/${id}`, { film_actor: '2' })).body.errors[0].extensions.code).to.equal(
        'INVALID_PAYLOAD',
      );
      expect(
        (await send('PATCH', `/items/note/${id}`, { film_actor: '2,1', film_id: 3 })).body.errors[0].extensions.code,
      ).to.equal('INVALID_PAYLOAD');
    });

    it('PATCH clears a reference to a row of the same table, but not the column they share', async () => {
      expect(await get('/items/branch/1,2?fields=boss,branch.name')).to.deep.equal({
        boss: 1,
        branch: { name: 'head' },
      });
      await write('PATCH', '/items/branch/1,2', { branch: null });
      expect(await get('/items/branch/1,2?fields=tenant,boss')).to.deep.equal({ tenant: 1, boss: null });
    });
  });

  describe('/relations and /fields', () => {
    before(() =>
      service.database.query(`
        create table lot (a int, b int, primary key (a, b));
        create table bid (id int primary key, a int, b int, constraint bid_lot foreign key (a, b) references lot);
        insert into lot values (1, 2); insert into bid values (1, 1, 2)`),
    );

    it('change the rules of a composite foreign key, and delete it without its columns', async () => {
      await write('PATCH', '/relations/bid/lot', { schema: { on_delete: 'CASCADE' } });
      expect((await get('/relations/bid/lot')).schema).to.include({ on_delete: 'CASCADE', constraint_name: 'bid_lot' });
      expect((await send('DELETE', '/fields/bid/lot')).status).to.equal(400);
      expect((await send('DELETE', '/relations/bid/lot')).status).to.equal(204);
      expect(await get('/items/bid')).to.deep.equal([{ id: 1, a: 1, b: 2 }]);
    });

    it('drop a composite foreign key with one of its columns, and with the collection it leads to', async () => {
      const again = 'alter table bid add constraint bid_lot foreign key (a, b) references lot';
      await rows(again);
      expect(await get('/items/bid/1?fields=lot')).to.deep.equal({ lot: '1,2' });
      expect((await send('DELETE', '/fields/bid/b')).status).to.equal(204);
      expect(await get('/items/bid')).to.deep.equal([{ id: 1, a: 1 }]);
      await rows(`alter table bid add b int; update bid set b = 2; ${again}`);
      expect((await send('DELETE', '/collections/lot')).status).to.equal(204);
      expect(await get('/items/bid')).to.deep.equal([{ id: 1, a: 1, b: 2 }]);
      await write('DELETE', '/collections/bid');
    });
  });

  describe('permissions', () => {
    it('row rules and field lists of a role apply as to other tables', async () => {
      const { token } = await createUserWithPermissions(service, [
        {
          collection: 'film_actor',
          action: 'read',
          fields: ['film_id', 'actor_id', 'role'],
          permissions: { film_id: { _eq: 1 } },
        },
        { collection: 'film_actor', action: 'update', fields: ['role'], permissions: { film_id: { _eq: 1 } } },
        { collection: 'note', action: 'read', fields: ['id', 'film_id', 'actor_id'] },
        { collection: 'film', action: 'read', fields: ['film_id', 'parts'] },
      ]);
      const as = (method: string, path: string, body?: unknown) => send(method, path, body, token);
      expect((await as('GET', '/items/film_actor')).body.data).to.have.length(3);
      expect((await as('GET', '/items/film_actor/2,1')).status).to.equal(403);
      expect((await as('PATCH', '/items/film_actor/1,1', { role: 'mine' })).body.data).to.include({ role: 'mine' });
      expect((await as('PATCH', '/items/film_actor/2,1', { role: 'mine' })).status).to.equal(403);
      expect((await as('PATCH', '/items/film_actor/1,1', { billing: 3 })).status).to.equal(403);
      expect((await as('DELETE', '/items/film_actor/1,1')).status).to.equal(403);
      expect((await as('GET', '/items/note?fields=film_actor.role&limit=3')).body.data).to.deep.equal([
        { film_actor: { role: 'role 12' } },
        { film_actor: { role: 'role 12' } },
        { film_actor: null },
      ]);
      expect((await as('GET', '/items/film?fields=parts&limit=2')).body.data).to.deep.equal([
        { parts: ['1,1', '1,2', '1,3'] },
        { parts: [] },
      ]);
    });

    it('an object with nothing but its key in place of a key column counts as that key and needs no grant', async () => {
      const { token } = await createUserWithPermissions(service, [
        { collection: 'film', action: 'update', fields: ['parts'] },
        { collection: 'film_actor', action: 'update', fields: ['role'] },
        { collection: 'actor', action: 'update' },
      ]);
      const update = (part: object) => ({ parts: { update: [part] } });
      const named = update({ actor_id: { actor_id: 1 }, role: 'named' });
      expect((await send('PATCH', '/items/film/1', named, token)).status).to.equal(204);
      expect(await get('/items/film_actor/1,1')).to.include({ role: 'named' });
      const rows = [{ film_id: 1, actor_id: { actor_id: 2 }, role: 'named' }];
      expect((await send('PATCH', '/items/film_actor', rows, token)).status).to.equal(204);
      expect(await get('/items/film_actor/1,2')).to.include({ role: 'named' });
      const more = update({ actor_id: { actor_id: 1, name: 'x' }, role: 'no' });
      expect((await send('PATCH', '/items/film/1', more, token)).status).to.equal(403);
    });

    it('the field of a composite foreign key is hidden where one of its columns is hidden', async () => {
      const { token } = await createUserWithPermissions(service, [
        { collection: 'film_actor', action: 'read' },
        { collection: 'note', action: 'read', fields: ['id', 'film_id', 'body'] },
        { collection: 'note', action: 'create', fields: ['film_id', 'body'] },
      ]);
      expect((await send('GET', '/items/note?limit=1', undefined, token)).body.data).to.deep.equal([
        { id: 1, film_id: 1, body: 'first' },
      ]);
      expect((await send('GET', `/items/note?${filter({ film_actor: '1,2' })}`, undefined, token)).status).to.equal(
        403,
      );
      expect(
        (await send('GET', `/items/note?${filter({ film_actor: { role: 'x' } })}`, undefined, token)).status,
      ).to.equal(403);
      expect((await send('GET', '/items/note?sort=film_actor.role', undefined, token)).status).to.equal(403);
      expect((await send('POST', '/items/note', { film_actor: '1,1' }, token)).status).to.equal(403);
      expect((await send('POST', '/items/note', { film_actor: { film_id: 1, actor_id: 1 } }, token)).status).to.equal(
        403,
      );
    });
  });

  describe('validations', () => {
    const held = { actor_id: { _eq: 1 } };
    const notHeld = { actor_id: { _neq: 2 } };
    const FORMS: readonly [string, Row][] = [
      ['columns', { film_id: 3, actor_id: 2 }],
      ['a key', { film_actor: '3,2' }],
      ['an object', { film_actor: { film_id: 3, actor_id: 2 } }],
      ['an object beside another value of the column', { actor_id: 1, film_actor: { film_id: 3, actor_id: 2 } }],
    ];
    for (const [what, validation] of Object.entries({
      'a column of the key': held,
      'what a column must not be': notHeld,
      'the foreign key': { film_actor: { _eq: '1,1' } },
      'what the foreign key must not be': { film_actor: { _nin: ['3,2'] } },
    }))
      it(`a validation of ${what} applies to every form of a composite foreign key`, async () => {
        const { token } = await createUserWithPermissions(service, [
          { collection: 'note', action: 'create', validation },
          { collection: 'note', action: 'update', validation },
          { collection: 'note', action: 'read' },
          { collection: 'film_actor', action: 'read' },
        ]);
        const before = await rows('select * from note order by id');
        for (const [form, body] of FORMS) {
          expect((await send('POST', '/items/note', body, token)).status, `POST ${form}`).to.equal(400);
          expect((await send('PATCH', '/items/note/4', body, token)).status, `PATCH ${form}`).to.equal(400);
        }
        expect(await rows('select * from note order by id')).to.deep.equal(before);
        for (const body of [{ film_actor: '1,1' }, { film_id: 1, actor_id: 1 }])
          expect((await send('PATCH', '/items/note/4', body, token)).status, JSON.stringify(body)).to.equal(200);
        await rows('update note set film_id = null, actor_id = 1 where id = 4');
      });

    it('validations and presets know the foreign key by its name', async () => {
      const { token } = await createUserWithPermissions(service, [
        {
          collection: 'note',
          action: 'create',
          presets: { film_actor: '3,2' },
          validation: { actor_id: { _in: [1, 2] } },
        },
        { collection: 'note', action: 'read' },
      ]);
      const make = async (body: Row) => (await send('POST', '/items/note', body, token)).body.data;
      expect(await make({ body: 'preset' })).to.include({ film_id: 3, actor_id: 2, film_actor: '3,2' });
      expect(await make({ film_id: 1, actor_id: 1 })).to.include({ film_actor: '1,1' });
      expect(await make({ actor_id: 1 })).to.include({ film_id: 3, actor_id: 1 });
      expect(await make({ film_actor: { film_id: 2, actor_id: 1 } })).to.include({ film_actor: '2,1' });
      await rows('delete from note where id > 4');
    });

    it('validations read the key that an object behind a relation names', async () => {
      const { token } = await createUserWithPermissions(service, [
        { collection: 'film_actor', action: 'create', validation: { actor_id: { _nin: [2] } } },
        { collection: 'actor', action: 'update' },
      ]);
      for (const actor_id of [2, '02', { actor_id: 2 }, { actor_id: '02', name: 'x' }])
        expect((await send('POST', '/items/film_actor', { film_id: 5, actor_id }, token)).status).to.equal(400);
      expect(
        (await send('POST', '/items/film_actor', { film_id: 5, actor_id: { actor_id: 3 } }, token)).status,
      ).to.equal(204);
      await rows('delete from film_actor where film_id = 5');
    });
  });

  describe('tables without a key', () => {
    it('rows are listed, filtered, created and changed by query', async () => {
      for (const table of ['heap', 'split_heap']) {
        expect(await write('POST', `/items/${table}`, { word: 'new', n: 1 })).to.deep.equal({ word: 'new', n: 1 });
        expect(
          await write('POST', `/items/${table}`, [
            { word: 'x', n: 8 },
            { word: 'y', n: 9 },
          ]),
        ).to.deep.equal([
          { word: 'x', n: 8 },
          { word: 'y', n: 9 },
        ]);
        const changed = await write('PATCH', `/items/${table}`, {
          query: { filter: { word: { _in: ['new', 'x'] } } },
          data: { n: 2 },
        });
        expect(changed.map(({ word }: Row) => word)).to.have.members(['new', 'x']);
        expect(await rows(`select word from ${table} where n = 2 order by 1`)).to.deep.include.members([
          { word: 'new' },
          { word: 'x' },
        ]);
        expect(
          (await send('DELETE', `/items/${table}`, { query: { filter: { word: { _in: ['new', 'x', 'y'] } } } })).status,
        ).to.equal(204);
        expect((await get(`/items/${table}?aggregate[count]=*`))[0].count).to.equal(3);
        const activity = await rows(`select distinct item from platform_activity where collection = '${table}'`);
        expect(activity).to.deep.equal([{ item: '' }]);
      }
    });

    it('rows are not found by key, whatever is sent as one', async () => {
      const [row] = await rows('select tableoid::text as t, ctid::text as c from heap limit 1');
      for (const key of ['1', `${row?.t},${row?.c}`, `${row?.t},${String(row?.c).replace(',', '~1')}`]) {
        expect((await send('GET', `/items/heap/${encodeURIComponent(key)}`)).status, key).to.equal(403);
        expect((await send('PATCH', `/items/heap/${encodeURIComponent(key)}`, { n: 1 })).status, key).to.equal(403);
        expect((await send('DELETE', '/items/heap', [key])).status, key).to.equal(403);
        expect((await send('PATCH', '/items/heap', { keys: [key], data: { n: 1 } })).status, key).to.equal(403);
      }
      expect((await send('PATCH', '/items/heap', [{ word: 'a', n: 5 }])).status).to.be.within(400, 403);
    });

    it('two concurrent requests change each row once', async () => {
      await rows(`insert into heap select 'race', 0 from generate_series(1, 50)`);
      const change = () =>
        send('PATCH', '/items/heap', { query: { filter: { word: 'race', n: 0 }, limit: -1 }, data: { n: 1 } });
      const replies = await Promise.all([change(), change(), change()]);
      expect(replies.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
      expect(replies.map(({ body }) => body.data.length).sort((a, b) => a - b)).to.deep.equal([0, 0, 50]);
      await rows(`delete from heap where word = 'race'`);
    });

    it('a caller with read permission only does not lock the table', async () => {
      const { token } = await createUserWithPermissions(service, [{ collection: 'heap', action: 'read' }]);
      const query = { filter: { word: 'a' } };
      const statements = await recordStatementsDuring(async () => {
        expect((await send('PATCH', '/items/heap', { query, data: { n: 1 } }, token)).status).to.equal(403);
        expect((await send('DELETE', '/items/heap', { query }, token)).status).to.equal(403);
      });
      expect(statements.filter((text) => text.startsWith('lock table'))).to.deep.equal([]);
    });

    it('a unique index over not-null columns is used as the key', async () => {
      expect(await get('/items/by_code/x')).to.deep.equal({ code: 'x', label: 'one' });
      expect(await write('PATCH', '/items/by_code/x', { label: 'two' })).to.include({ label: 'two' });
    });
  });
});
