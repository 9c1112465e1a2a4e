import { expect } from 'chai';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';
import { createUserWithPermissions, requestAsAdmin } from './test-users.ts';

type Row = Record<string, unknown>;

describe('writes of items and their related rows', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  before(async () => {
    database = await createMigratedDatabase('conf_write');
    await database.query(`
      create table author (id serial primary key, name varchar(20) not null, boss int references author on delete set null);
      create table article (id serial primary key, title text, status text default 'draft', author int references author, place int);
      create table note (id uuid primary key default gen_random_uuid(), text text, article int not null references article);
      create table mark (id serial primary key, word text, note uuid references note);
      create table tag (name text primary key, color text);
      create table article_tag (id serial primary key, article int references article, tag text references tag, weight int);
      create table site (id serial primary key, name text default 'Untitled', color text);
      create table stamped (id uuid primary key, other uuid, word text, created_at timestamptz, created_on date, changed timestamp, maker uuid, changer uuid,
        maker_role uuid, changer_role uuid, pin varchar(255), words text, doc text, secret text);
      create table strict (id serial primary key, code text not null unique, n int check (n > 0), a int, b int, author int references author,
        level smallint, price numeric(6,2), "Camel Case" text unique, unique (a, b));
      create unique index on strict (lower(code));
      create table late (id serial primary key, up int references late deferrable initially deferred, name text);
      create table big (id serial primary key, n int, word text default 'none');
    `);
    service = await startService({ database, env: { MAX_PAYLOAD_SIZE: '10mb' } });
    const admin = (method: string, path: string, body: unknown) => requestAsAdmin(service, method, path, body);
    for (const [one, field, many, key, meta] of [
      ['author', 'articles', 'article', 'author', {}],
      ['author', 'team', 'author', 'boss', {}],
      ['article', 'notes', 'note', 'article', { one_deselect_action: 'delete' }],
      ['note', 'marks', 'mark', 'note', {}],
      ['article', 'tags', 'article_tag', 'article', { junction_field: 'tag', one_deselect_action: 'delete' }],
      ['tag', 'articles', 'article_tag', 'tag', { junction_field: 'article' }],
    ] as const) {
      await admin('POST', `/fields/${one}`, { field, type: 'alias', meta: { special: ['o2m'] } });
      await admin('PATCH', `/relations/${many}/${key}`, { meta: { one_field: field, ...meta } });
    }
    for (const [field, ...special] of [
      ['id', 'uuid'],
      ['other', 'uuid'],
      ['created_at', 'date-created'],
      ['created_on', 'date-created'],
      ['changed', 'date-updated'],
      ['maker', 'user-created'],
      ['changer', 'user-updated'],
      ['maker_role', 'role-created'],
      ['changer_role', 'role-updated'],
      ['pin', 'hash', 'conceal'],
      ['words', 'cast-csv'],
      ['doc', 'cast-json'],
      ['secret', 'conceal'],
    ]) {
      await admin('PATCH', `/fields/stamped/${field}`, { meta: { special } });
    }
    await admin('PATCH', '/collections/site', { meta: { singleton: true } });
  });
  beforeEach(() =>
    database.query(
      'truncate author, article, note, mark, tag, article_tag, site, stamped, strict, late, big restart identity cascade',
    ),
  );
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  const send = (method: string, path: string, body?: unknown, token: string | null = service.admin.token) =>
    service.request(method, path, { token, body });
  const ok = async (method: string, path: string, body?: unknown, token?: string) => {
    const reply = await send(method, path, body, token);
    expect(reply.status, `${method} ${path} ${JSON.stringify(reply.body)}`).to.be.within(200, 204);
    return reply.body?.data;
  };
  const refused = async (method: string, path: string, body: unknown, status: number, code: string, token?: string) => {
    const reply = await send(method, path, body, token);
    expect([reply.status, reply.body?.errors?.[0].extensions.code], JSON.stringify([body, reply.body])).to.deep.equal([
      status,
      code,
    ]);
    return reply.body.errors[0].extensions;
  };
  const count = async (table: string) =>
    Number((await database.query<{ n: string }>(`select count(*) as n from ${table}`))[0]?.n);

  describe('relations', () => {
    it('POST writes a tree several levels deep in one request', async () => {
      const data = await ok(
        'POST',
        '/items/author?fields=name,boss.name,articles.title,articles.notes.text,articles.notes.marks.word',
        {
          name: 'Ann',
          boss: { name: 'Root', boss: { name: 'Top' } },
          articles: [
            { title: 'a', notes: [{ text: 'n1', marks: [{ word: 'm1' }, { word: 'm2' }] }, { text: 'n2' }] },
            { title: 'b' },
          ],
        },
      );
      expect(data.articles[0].notes.map((note: Row) => note.text).sort()).to.deep.equal(['n1', 'n2']);
      expect(data).to.deep.include({ name: 'Ann', boss: { name: 'Root' } });
      expect(data.articles[1]).to.deep.equal({ title: 'b', notes: [] });
      expect([await count('author'), await count('article'), await count('note'), await count('mark')]).to.deep.equal([
        3, 2, 2, 2,
      ]);
    });

    it('POST writes a tree of rows of one table, from both ends', async () => {
      await ok('POST', '/items/author', { name: 'A', team: [{ name: 'B', team: [{ name: 'C' }] }, { name: 'D' }] });
      const tree = 'fields=name,team.name,team.team.name';
      expect(await ok('GET', `/items/author/1?${tree}`)).to.deep.equal({
        name: 'A',
        team: [
          { name: 'B', team: [{ name: 'C' }] },
          { name: 'D', team: [] },
        ],
      });
      const [c] = await ok('GET', '/items/author?fields=id&filter[name]=C');
      await ok('PATCH', '/items/author/1', {
        team: { update: [{ id: 2, name: 'B2', team: { create: [{ name: 'E' }], delete: [c.id] } }] },
      });
      expect(await ok('GET', `/items/author/1?${tree}`)).to.deep.equal({
        name: 'A',
        team: [
          { name: 'B2', team: [{ name: 'E' }] },
          { name: 'D', team: [] },
        ],
      });
      expect(await database.query(`select boss from author where name = 'C'`)).to.deep.equal([{ boss: null }]);
    });

    it('PATCH changes a many-to-many through rows of its junction', async () => {
      await ok('POST', '/items/tag', [{ name: 'red' }, { name: 'blue' }]);
      const shown = 'fields=tags.id,tags.weight,tags.tag.name,tags.tag.color';
      const created = await ok('POST', `/items/article?${shown}`, {
        title: 'a',
        tags: [
          { tag: 'red' },
          { tag: { name: 'green', color: '#0f0' }, weight: 3 },
          { tag: { name: 'blue', color: '#00f' } },
        ],
      });
      expect(created.tags).to.deep.equal([
        { id: 1, weight: null, tag: { name: 'red', color: null } },
        { id: 2, weight: 3, tag: { name: 'green', color: '#0f0' } },
        { id: 3, weight: null, tag: { name: 'blue', color: '#00f' } },
      ]);
      // A bare key in the list is the key of a junction row, not of a tag.
      const changed = await ok('PATCH', `/items/article/1?${shown}`, {
        tags: [2, { id: 3, weight: 7 }, { tag: 'red', weight: 1 }],
      });
      expect(changed.tags.map((row: Row) => [row.id, row.weight])).to.deep.equal([
        [2, 3],
        [3, 7],
        [4, 1],
      ]);
      expect(await count('article_tag')).to.equal(3);
      const detailed = await ok('PATCH', `/items/article/1?${shown}`, {
        tags: {
          create: [{ tag: { name: 'pink' } }],
          update: [{ id: 2, weight: 9, tag: { name: 'green', color: 'g' } }],
          delete: [3],
        },
      });
      expect(detailed.tags).to.deep.equal([
        { id: 2, weight: 9, tag: { name: 'green', color: 'g' } },
        { id: 4, weight: 1, tag: { name: 'red', color: null } },
        { id: 5, weight: null, tag: { name: 'pink', color: null } },
      ]);
      await ok('PATCH', '/items/tag/red', { articles: [] });
      expect(await ok('GET', '/items/article/1?fields=tags.id,tags.tag')).to.deep.equal({
        tags: [
          { id: 2, tag: 'green' },
          { id: 4, tag: null },
          { id: 5, tag: 'pink' },
        ],
      });
      expect(await ok('PATCH', '/items/article/1?fields=tags', { tags: [] })).to.deep.equal({ tags: [] });
      expect(await count('article_tag')).to.equal(0);
    });

    it('PATCH takes rows over from another parent, by key and as object', async () => {
      await ok('POST', '/items/author', [
        { name: 'A', articles: [{ title: 'a' }, { title: 'b' }, { title: 'c' }] },
        { name: 'B' },
      ]);
      await ok('PATCH', '/items/author/2', { articles: [1, { id: 2, title: 'B' }] });
      expect(await ok('GET', '/items/author?fields=articles')).to.deep.equal([{ articles: [3] }, { articles: [1, 2] }]);
      await ok('PATCH', '/items/author/2', { articles: { update: [{ id: 3 }], create: [] } });
      expect(await ok('GET', '/items/author?fields=articles')).to.deep.equal([
        { articles: [] },
        { articles: [1, 2, 3] },
      ]);
    });

    it('PATCH creates a child under the key in its object, and rejects a bare key without a row', async () => {
      await ok('POST', '/items/author', { name: 'A', articles: [{ id: 77, title: 'x' }] });
      expect(await ok('GET', '/items/article/77?fields=title,author')).to.deep.equal({ title: 'x', author: 1 });
      await refused('PATCH', '/items/author/1', { articles: [99] }, 403, 'FORBIDDEN');
      await refused('POST', '/items/author', { name: 'B', articles: [99] }, 403, 'FORBIDDEN');
      expect(await count('author')).to.equal(1);
    });

    it('PATCH ignores duplicate keys and keeps linked rows as they are', async () => {
      await ok('POST', '/items/author', { name: 'A', articles: [{ title: 'a' }] });
      await ok('PATCH', '/items/author/1', { articles: [1, '1', { id: 1, title: 'A' }] });
      expect(await ok('GET', '/items/author/1?fields=articles.title')).to.deep.equal({ articles: [{ title: 'A' }] });
    });

    it('POST writes the parent’s key over a foreign key in the child', async () => {
      await ok('POST', '/items/author', [{ name: 'A' }, { name: 'B', articles: [{ title: 'a', author: 1 }] }]);
      expect(await ok('GET', '/items/article/1?fields=author')).to.deep.equal({ author: 2 });
    });

    for (const wrong of [
      5,
      'a',
      true,
      { create: {} },
      { update: [{ title: 'x' }] },
      { update: [1] },
      { create: [1] },
      { delete: 1 },
      { upsert: [] },
      { title: 'x' },
      [[]],
      [null],
      [true],
    ]) {
      it(`rejects ${JSON.stringify(wrong)} for a to-many`, async () => {
        const extensions = await refused(
          'POST',
          '/items/author',
          { name: 'A', articles: wrong },
          400,
          'INVALID_PAYLOAD',
        );
        expect(extensions).to.deep.include({ field: 'articles', path: ['articles'] });
        expect(await count('author')).to.equal(0);
      });
    }

    for (const wrong of [[1], true, 'x', 1.5]) {
      it(`rejects ${JSON.stringify(wrong)} for a many-to-one`, async () => {
        const extensions = await refused('POST', '/items/article', { author: wrong }, 400, 'INVALID_PAYLOAD');
        expect(extensions).to.include({ field: 'author' });
      });
    }

    it('POST ignores a null key where the database generates keys, at every level', async () => {
      expect(await ok('POST', '/items/author?fields=id,name', { id: null, name: 'A' })).to.deep.equal({
        id: 1,
        name: 'A',
      });
      const nested = await ok('POST', '/items/article?fields=title,author.name,notes.text,tags.tag', {
        id: null,
        title: 'a',
        author: { id: null, name: 'B' },
        notes: [{ id: null, text: 'n' }],
        tags: [{ id: null, tag: { name: 't' } }],
      });
      expect(nested).to.deep.equal({
        title: 'a',
        author: { name: 'B' },
        notes: [{ text: 'n' }],
        tags: [{ tag: 't' }],
      });
      // The key of `tag` has no default, so null is rejected.
      await refused('POST', '/items/tag', { name: null }, 400, 'FAILED_VALIDATION');
      await refused('PATCH', '/items/author/1', { id: null }, 400, 'NOT_NULL_VIOLATION');
    });

    it('errors name the path in a nested payload', async () => {
      const create = (body: object) =>
        send('POST', '/items/article', body).then(({ body: { errors } }) => errors[0].extensions);
      expect(await create({ author: { boss: null } })).to.deep.equal({
        code: 'FAILED_VALIDATION',
        field: 'name',
        path: ['author'],
        type: 'required',
      });
      expect(await create({ author: { name: 'A', boss: { name: null } } })).to.deep.equal({
        code: 'FAILED_VALIDATION',
        field: 'name',
        path: ['author', 'boss'],
        type: 'nnull',
      });
      expect(await create({ notes: [{ text: 'a' }, { marks: [{ id: 'x' }] }] })).to.include({ code: 'FORBIDDEN' });
      expect(await create({ author: { name: 'a name much longer than twenty' } })).to.deep.include({
        code: 'VALUE_TOO_LONG',
        collection: 'author',
        field: 'name',
        path: ['author', 'name'],
      });
      expect(await create({ notes: [{ text: { a: 1 } }] })).to.deep.include({
        code: 'INVALID_PAYLOAD',
        field: 'text',
        path: ['notes', 0, 'text'],
      });
      expect(await create({ author: { name: 'A', articles: 5 } })).to.deep.include({
        code: 'INVALID_PAYLOAD',
        path: ['author', 'articles'],
      });
      expect(await create({ author: { name: 'A', boss: 99 } })).to.deep.include({
        code: 'INVALID_FOREIGN_KEY',
        field: 'boss',
        path: ['author', 'boss'],
      });
      expect([await count('author'), await count('article')]).to.deep.equal([0, 0]);
    });
  });

  describe('batches', () => {
    it('empty lists write nothing', async () => {
      for (const [method, body] of [
        ['POST', []],
        ['PATCH', []],
        ['PATCH', { keys: [], data: { n: 1 } }],
        ['PATCH', { query: { filter: { n: 1 } }, data: { n: 1 } }],
      ] as const) {
        expect(await ok(method, '/items/big', body), JSON.stringify([method, body])).to.deep.equal([]);
      }
      for (const body of [[], { keys: [] }, { query: { filter: { n: 1 } } }]) await ok('DELETE', '/items/big', body);
    });

    it('PATCH without changes answers the row', async () => {
      await ok('POST', '/items/big', {});
      expect(await ok('PATCH', '/items/big/1', {})).to.deep.equal({ id: 1, n: null, word: 'none' });
      expect(await ok('PATCH', '/items/big', { keys: ['1', 1], data: {} })).to.deep.equal([
        { id: 1, n: null, word: 'none' },
      ]);
    });

    it('PATCH and DELETE by query accept search, sort and limit', async () => {
      await ok('POST', '/items/big', [
        { n: 1, word: 'x' },
        { n: 2, word: 'x' },
        { n: 3, word: 'y' },
      ]);
      expect(
        await ok('PATCH', '/items/big?fields=n,word', {
          query: { filter: { word: { _eq: 'x' } }, fields: ['*', { a: ['b'] }], sort: ['-n'], limit: 1 },
          data: { word: 'z' },
        }),
      ).to.deep.equal([{ n: 2, word: 'z' }]);
      expect(await ok('PATCH', '/items/big?fields=n', { query: { search: 'z' }, data: { n: 9 } })).to.deep.equal([
        { n: 9 },
      ]);
      await ok('DELETE', '/items/big', { query: { filter: { n: { _gt: 5 } }, limit: -1 } });
      expect(await count('big')).to.equal(2);
      await ok('DELETE', '/items/big', { query: { limit: 1, sort: ['-id'] } });
      expect(await ok('GET', '/items/big?fields=id')).to.deep.equal([{ id: 1 }]);
      await ok('DELETE', '/items/big', { query: {} });
      expect(await count('big')).to.equal(0);
    });

    it('PATCH and DELETE by query reject a condition that a read would ignore, instead of writing every row', async () => {
      await ok('POST', '/items/big', [{ n: 1 }, { n: 2 }]);
      for (const operator of ['_between', '_nbetween']) {
        const query = { filter: { n: { [operator]: [5] } } };
        await refused('DELETE', '/items/big', { query }, 400, 'INVALID_QUERY');
        await refused('PATCH', '/items/big', { query, data: { n: 9 } }, 400, 'INVALID_QUERY');
      }
      expect(await ok('GET', '/items/big?fields=n&sort=n&filter[n][_between]=5')).to.deep.equal([{ n: 1 }, { n: 2 }]);
    });

    it('bodies of an unknown form are rejected', async () => {
      for (const body of [
        undefined,
        {},
        { data: {} },
        { keys: [1] },
        { keys: 1, data: {} },
        { keys: [1], data: [] },
        { keys: [null], data: {} },
        { query: 'x', data: {} },
        [1],
        [[]],
        { keys: [1], query: {}, data: {} },
      ]) {
        await refused('PATCH', '/items/big', body, 400, 'INVALID_PAYLOAD');
      }
      for (const body of [
        undefined,
        {},
        { keys: 1 },
        { keys: [true] },
        { query: [] },
        { keys: [1], query: {} },
        [null],
      ]) {
        await refused('DELETE', '/items/big', body, 400, 'INVALID_PAYLOAD');
      }
      for (const body of [undefined, [[]], [null], ['a']])
        await refused('POST', '/items/big', body, 400, 'INVALID_PAYLOAD');
      for (const body of [undefined, []]) await refused('PATCH', '/items/big/1', body, 400, 'INVALID_PAYLOAD');
      await refused('PATCH', '/items/big', { query: { limit: -2 }, data: {} }, 400, 'INVALID_QUERY');
      await refused('DELETE', '/items/big', { query: { filter: { n: { _contains: 'x' } } } }, 400, 'INVALID_QUERY');
    });

    it('an invalid query for the answer is rejected before anything is written', async () => {
      for (const query of ['fields=year(n)', 'deep=5', 'alias=5', 'deep[a]=1']) {
        await refused('POST', `/items/big?${query}`, { n: 1 }, 400, 'INVALID_QUERY');
        await refused('POST', `/items/big?${query}`, [{ n: 1 }], 400, 'INVALID_QUERY');
      }
      expect(await count('big')).to.equal(0);
      await ok('POST', '/items/big', { n: 1 });
      await refused('PATCH', '/items/big/1?fields=year(n)', { n: 2 }, 400, 'INVALID_QUERY');
      await refused('PATCH', '/items/big?fields=year(n)', { keys: [1], data: { n: 2 } }, 400, 'INVALID_QUERY');
      expect(await ok('GET', '/items/big?fields=n')).to.deep.equal([{ n: 1 }]);
    });

    it('the filter of the request’s query does not hide the written row from the answer', async () => {
      expect(
        await ok('POST', '/items/big?fields=n&limit=0&filter[n]=7&page=3&search=x&meta=*', [{ n: 1 }, { n: 2 }]),
      ).to.deep.equal([{ n: 1 }, { n: 2 }]);
      const { body } = await send('POST', '/items/big?fields=n&meta=*', { n: 3 });
      expect(body).to.deep.equal({ data: { n: 3 } });
    });

    it('POST writes 10,000 rows at once, and PATCH and DELETE change and delete them', async () => {
      const rows = Array.from({ length: 10_000 }, (_, at) => ({ n: at, word: `w${at}` }));
      const created = await ok('POST', '/items/big?fields=id', rows);
      expect(created).to.have.length(10_000);
      expect([created[0], created[9999]]).to.deep.equal([{ id: 1 }, { id: 10_000 }]);
      const keys = created.map((row: Row) => row.id);
      expect(await ok('PATCH', '/items/big?fields=n', { keys, data: { n: 5 } })).to.have.length(10_000);
      const started = performance.now();
      const each = await ok(
        'PATCH',
        '/items/big?fields=n',
        keys.map((id: number) => ({ id, n: id })),
      );
      expect(each[9999]).to.deep.equal({ n: 10_000 });
      expect(performance.now() - started).to.be.below(60_000);
      expect(
        await ok('PATCH', '/items/big?fields=n', { query: { filter: { n: { _gt: 5000 } } }, data: { word: 'x' } }),
      ).to.have.length(5000);
      await refused('POST', '/items/big', [...rows, { n: 'x' }], 400, 'INVALID_PAYLOAD');
      expect(await count('big')).to.equal(10_000);
      await ok('DELETE', '/items/big', keys);
      expect(await count('big')).to.equal(0);
    }).timeout(180_000);
  });

  describe('constraint errors', () => {
    beforeEach(async () => {
      await ok('POST', '/items/author', { name: 'A' });
      await ok('POST', '/items/strict', { code: 'one', a: 1, b: 2, 'Camel Case': 'x', author: 1 });
    });

    const CASES: readonly [what: string, method: string, path: string, body: unknown, expected: Row][] = [
      [
        'a duplicate value',
        'POST',
        '/items/strict',
        { code: 'one' },
        { code: 'RECORD_NOT_UNIQUE', collection: 'strict', field: 'code' },
      ],
      [
        'a duplicate value in another case',
        'POST',
        '/items/strict',
        { code: 'ONE' },
        { code: 'RECORD_NOT_UNIQUE', collection: 'strict', field: 'code' },
      ],
      ['a duplicate key', 'POST', '/items/strict', { id: 1, code: 'two' }, { code: 'RECORD_NOT_UNIQUE', field: 'id' }],
      [
        'a duplicate pair',
        'POST',
        '/items/strict',
        { code: 'two', a: 1, b: 2 },
        { code: 'RECORD_NOT_UNIQUE', collection: 'strict', fields: ['a', 'b'] },
      ],
      [
        'a column name with a space',
        'POST',
        '/items/strict',
        { code: 'two', 'Camel Case': 'x' },
        { code: 'RECORD_NOT_UNIQUE', field: 'Camel Case' },
      ],
      [
        'a foreign key without a row',
        'POST',
        '/items/strict',
        { code: 'two', author: 99 },
        { code: 'INVALID_FOREIGN_KEY', collection: 'strict', field: 'author' },
      ],
      [
        'a foreign key without a row on update',
        'PATCH',
        '/items/strict/1',
        { author: 99 },
        { code: 'INVALID_FOREIGN_KEY', collection: 'strict', field: 'author' },
      ],
      [
        'deleting a row that other rows refer to',
        'DELETE',
        '/items/author/1',
        undefined,
        { code: 'INVALID_FOREIGN_KEY', collection: 'strict', field: 'author' },
      ],
      [
        'a number out of range',
        'POST',
        '/items/strict',
        { code: 'two', level: 70000 },
        { code: 'VALUE_OUT_OF_RANGE', collection: 'strict', field: 'level' },
      ],
      [
        'a decimal out of range',
        'PATCH',
        '/items/strict/1',
        { price: 12345.6 },
        { code: 'VALUE_OUT_OF_RANGE', collection: 'strict', field: 'price' },
      ],
      [
        'a number out of range on update',
        'PATCH',
        '/items/strict',
        { keys: [1], data: { a: 1, level: 70000 } },
        { code: 'VALUE_OUT_OF_RANGE', field: 'level' },
      ],
      [
        'a broken check',
        'POST',
        '/items/strict',
        { code: 'two', n: -1 },
        { code: 'INVALID_PAYLOAD', constraint: 'strict_n_check' },
      ],
      [
        'a required field left out',
        'POST',
        '/items/strict',
        {},
        { code: 'FAILED_VALIDATION', field: 'code', type: 'required' },
      ],
      [
        'null in a required field',
        'PATCH',
        '/items/strict/1',
        { code: null },
        { code: 'FAILED_VALIDATION', field: 'code', type: 'nnull' },
      ],
      [
        'a text too long',
        'PATCH',
        '/items/author/1',
        { name: 'x'.repeat(21) },
        { code: 'VALUE_TOO_LONG', collection: 'author', field: 'name' },
      ],
      [
        'a constraint that is checked at the commit',
        'POST',
        '/items/late',
        { up: 99 },
        { code: 'INVALID_FOREIGN_KEY', collection: 'late', field: 'up' },
      ],
    ];
    for (const [what, method, path, body, expected] of CASES) {
      it(`the error of ${what} has its code and path`, async () => {
        const reply = await send(method, path, body);
        expect(reply.status).to.equal(400);
        expect(reply.body.errors[0].extensions, JSON.stringify(reply.body)).to.deep.include(expected);
        expect([await count('strict'), await count('author'), await count('late')]).to.deep.equal([1, 1, 0]);
      });
    }

    it('a row that a trigger rejects or omits fails the request', async () => {
      await database.query(`
        create table guarded (id serial primary key, n int);
        create function guard() returns trigger language plpgsql as $$
          begin
            if new.n = 13 then return null; end if;
            if new.n = 14 then raise exception 'fourteen is taken'; end if;
            return new;
          end $$;
        create trigger guard before insert or update on guarded for each row execute function guard();
      `);
      expect((await refused('POST', '/items/guarded', { n: 14 }, 400, 'INVALID_PAYLOAD')).reason).to.equal(
        'fourteen is taken',
      );
      await refused('POST', '/items/guarded', { n: 13 }, 400, 'INVALID_PAYLOAD');
      await refused('POST', '/items/guarded', [{ n: 1 }, { n: 13 }], 400, 'INVALID_PAYLOAD');
      expect(await count('guarded')).to.equal(0);
      await ok('POST', '/items/guarded', { n: 1 });
      await refused(
        'PATCH',
        '/items/guarded',
        [
          { id: 3, n: 5 },
          { id: 99, n: 13 },
        ],
        403,
        'FORBIDDEN',
      );
    });

    it('several failed validations are reported one by one', async () => {
      await database.query('create table if not exists wants (id serial primary key, a text not null, b int not null)');
      const { status, body } = await send('POST', '/items/wants', { b: null });
      expect(status).to.equal(400);
      expect(
        body.errors.map(({ extensions }: { extensions: Row }) => [extensions.code, extensions.field, extensions.type]),
      ).to.deep.equal([
        ['FAILED_VALIDATION', 'a', 'required'],
        ['FAILED_VALIDATION', 'b', 'nnull'],
      ]);
    });
  });

  describe('special fields', () => {
    it('dates, users and roles are filled on their action, whatever the client sends', async () => {
      const anonymous = '00000000-0000-0000-0000-000000000009';
      const me = await ok('GET', '/users/me?fields=id,role');
      const created = await ok('POST', '/items/stamped', {
        word: 'a',
        created_at: '2001-01-01T00:00:00Z',
        maker: anonymous,
        maker_role: anonymous,
        other: '',
      });
      expect(created.id).to.match(/^[0-9a-f-]{36}$/);
      expect(created.other)
        .to.match(/^[0-9a-f-]{36}$/)
        .and.not.equal(created.id);
      expect(Date.now() - Date.parse(created.created_at)).to.be.within(0, 10_000);
      expect(created.created_on).to.equal(new Date().toISOString().slice(0, 10));
      expect(created).to.include({
        maker: me.id,
        maker_role: me.role,
        changed: null,
        changer: null,
        changer_role: null,
      });
      const changed = await ok('PATCH', `/items/stamped/${created.id}`, { word: 'b', changer: anonymous });
      expect(changed).to.include({
        id: created.id,
        other: created.other,
        created_at: created.created_at,
        maker: me.id,
        changer: me.id,
        changer_role: me.role,
      });
      expect(Date.now() - Date.parse(`${changed.changed}Z`)).to.be.within(0, 10_000);
      const own = await ok('POST', '/items/stamped', { id: anonymous });
      expect(own.id).to.equal(anonymous);
    });

    it('hash fields are hashed and concealed fields are masked', async () => {
      const created = await ok('POST', '/items/stamped', { pin: '1234', secret: 'hidden' });
      expect(created).to.include({ pin: '**********', secret: '**********' });
      const [stored] = await database.query<{ pin: string; secret: string }>('select pin, secret from stamped');
      expect(stored?.pin).to.match(/^\$argon2id\$/);
      expect(stored?.secret).to.equal('hidden');
      // A client that sends the mask back does not change the stored values.
      await ok('PATCH', `/items/stamped/${created.id}`, { pin: '**********', secret: '**********', word: 'b' });
      expect(await database.query('select pin, secret, word from stamped')).to.deep.equal([{ ...stored, word: 'b' }]);
      expect(await ok('PATCH', `/items/stamped/${created.id}`, { secret: null })).to.include({
        secret: null,
        pin: '**********',
      });
    });

    it('the mask is ignored as a value, also in a copy of a row', async () => {
      const created = await ok('POST', '/items/stamped', { pin: '**********', secret: '**********', word: 'copy' });
      expect(created).to.include({ pin: null, secret: null, word: 'copy' });
    });

    it('an empty text does not delete a hash', async () => {
      const created = await ok('POST', '/items/stamped', { pin: '', word: 'a' });
      expect(created.pin).to.equal(null);
      await ok('PATCH', `/items/stamped/${created.id}`, { pin: '1234' });
      const stored = await database.query('select pin from stamped');
      expect(await ok('PATCH', `/items/stamped/${created.id}`, { pin: '', word: 'b' })).to.include({
        pin: '**********',
        word: 'b',
      });
      expect(await database.query('select pin from stamped')).to.deep.equal(stored);
    });

    it('csv and json are stored in text columns', async () => {
      const created = await ok('POST', '/items/stamped?fields=words,doc', { words: ['a', 'b'], doc: { a: [1] } });
      expect(created).to.deep.equal({ words: ['a', 'b'], doc: { a: [1] } });
      expect(await database.query('select words, doc from stamped')).to.deep.equal([
        { words: 'a,b', doc: '{"a":[1]}' },
      ]);
      expect(await ok('GET', '/items/stamped?fields=words&filter[words][_contains]=b')).to.deep.equal([
        { words: ['a', 'b'] },
      ]);
    });
  });

  describe('concurrent writes', () => {
    it('a singleton gets one row', async () => {
      const replies = await Promise.all(
        Array.from({ length: 12 }, (_, at) => send('PATCH', '/items/site', { color: `c${at}` })),
      );
      expect(replies.map(({ status }) => status)).to.deep.equal(Array(12).fill(200));
      expect(await count('site')).to.equal(1);
    });

    it('one of many creates of a unique value succeeds', async () => {
      const replies = await Promise.all(
        Array.from({ length: 8 }, () => send('POST', '/items/strict', { code: 'same' })),
      );
      expect(replies.map(({ status }) => status).sort()).to.deep.equal([200, ...Array(7).fill(400)]);
    });

    it('changes of the same rows in opposite orders all finish', async () => {
      await ok(
        'POST',
        '/items/big',
        Array.from({ length: 50 }, (_, at) => ({ n: at })),
      );
      const keys = Array.from({ length: 50 }, (_, at) => at + 1);
      const replies = await Promise.all(
        Array.from({ length: 10 }, (_, at) =>
          send('PATCH', '/items/big?fields=id', { keys: at % 2 ? keys : keys.toReversed(), data: { n: at } }),
        ),
      );
      for (const { status } of replies) expect(status).to.be.oneOf([200, 503]);
      expect(new Set((await ok('GET', '/items/big?fields=n')).map((row: Row) => row.n)).size).to.equal(1);
    });
  });

  describe('under permissions', () => {
    it('nested creates, updates and deletes are each checked on their own collection', async () => {
      await ok('POST', '/items/author', {
        name: 'A',
        articles: [{ title: 'mine', status: 'mine' }, { title: 'theirs' }],
      });
      const { token } = await createUserWithPermissions(service, [
        { collection: 'author', action: 'update', fields: ['name', 'articles'] },
        { collection: 'author', action: 'read', fields: ['id', 'articles'] },
        { collection: 'article', action: 'update', fields: ['title'], permissions: { status: { _eq: 'mine' } } },
        { collection: 'article', action: 'read', fields: ['id', 'title'] },
      ]);
      expect(
        await ok(
          'PATCH',
          '/items/author/1?fields=articles.title',
          { articles: { update: [{ id: 1, title: 'x' }] } },
          token,
        ),
      ).to.deep.equal({ articles: [{ title: 'x' }, { title: 'theirs' }] });
      for (const articles of [
        { create: [{ title: 'new' }] },
        { update: [{ id: 2, title: 'x' }] },
        { update: [{ id: 1, status: 'x' }] },
        { delete: [2] },
        [],
        [1],
      ]) {
        await refused('PATCH', '/items/author/1', { name: 'changed', articles }, 403, 'FORBIDDEN', token);
      }
      await refused('PATCH', '/items/author/1', { boss: { name: 'x' } }, 403, 'FORBIDDEN', token);
      expect(await database.query('select name from author')).to.deep.equal([{ name: 'A' }]);
      expect(await database.query('select title from article order by id')).to.deep.equal([
        { title: 'x' },
        { title: 'theirs' },
      ]);
    });

    it('a link by key needs the parent’s field alone, a nested create needs a grant', async () => {
      await ok('POST', '/items/author', { name: 'A' });
      const { token } = await createUserWithPermissions(service, [
        { collection: 'article', action: 'create', fields: ['title', 'author'] },
        { collection: 'article', action: 'read' },
      ]);
      expect(await ok('POST', '/items/article?fields=author', { author: 1 }, token)).to.deep.equal({ author: 1 });
      expect(await ok('POST', '/items/article?fields=author', { author: { id: 1 } }, token)).to.deep.equal({
        author: 1,
      });
      await refused('POST', '/items/article', { author: { name: 'B' } }, 403, 'FORBIDDEN', token);
      await refused('POST', '/items/article', { author: { id: 1, name: 'B' } }, 403, 'FORBIDDEN', token);
      expect(await count('article')).to.equal(2);
    });

    it('presets are merged under the payload, and both are validated', async () => {
      const { token, id } = await createUserWithPermissions(service, [
        {
          collection: 'article',
          action: 'create',
          fields: ['title', 'place'],
          presets: { status: '$CURRENT_USER', place: 4 },
          validation: { place: { _lt: 10 }, title: { _nnull: true } },
        },
        {
          collection: 'article',
          action: 'update',
          fields: ['title', 'place'],
          presets: { status: 'changed' },
          validation: { place: { _lt: 10 } },
        },
        { collection: 'article', action: 'read' },
      ]);
      expect(await ok('POST', '/items/article?fields=title,status,place', { title: 'a' }, token)).to.deep.equal({
        title: 'a',
        status: id,
        place: 4,
      });
      expect(await ok('POST', '/items/article?fields=place', { title: 'a', place: 5 }, token)).to.deep.equal({
        place: 5,
      });
      expect(
        await refused('POST', '/items/article', { title: 'a', place: 50 }, 400, 'FAILED_VALIDATION', token),
      ).to.deep.equal({ code: 'FAILED_VALIDATION', field: 'place', path: [], type: 'lt', valid: 10 });
      expect(
        await refused('POST', '/items/article', [{ title: 'a' }, { title: null }], 400, 'FAILED_VALIDATION', token),
      ).to.include({ field: 'title', type: 'nnull' });
      expect(await ok('PATCH', '/items/article/1?fields=status,place', { title: 'b' }, token)).to.deep.equal({
        status: 'changed',
        place: 4,
      });
      await refused('PATCH', '/items/article', { keys: [1, 2], data: { place: 11 } }, 400, 'FAILED_VALIDATION', token);
      await refused('PATCH', '/items/article/1', { status: 'x' }, 403, 'FORBIDDEN', token);
      expect(await count('article')).to.equal(2);
    });

    it('special fields are filled without a grant, and values of a caller without one are ignored', async () => {
      const { token, id, role } = await createUserWithPermissions(service, [
        { collection: 'stamped', action: 'create', fields: ['word'] },
        { collection: 'stamped', action: 'read' },
      ]);
      expect(await ok('POST', '/items/stamped?fields=maker,maker_role,word', { word: 'a' }, token)).to.deep.equal({
        maker: id,
        maker_role: role,
        word: 'a',
      });
    });

    it('unknown and forbidden rows, collections and fields are answered alike', async () => {
      await ok('POST', '/items/article', { title: 'a' });
      const { token } = await createUserWithPermissions(service, [
        { collection: 'article', action: 'update', fields: ['title'], permissions: { status: { _eq: 'none' } } },
        { collection: 'article', action: 'delete', permissions: { status: { _eq: 'none' } } },
        { collection: 'article', action: 'create', fields: ['title'] },
      ]);
      const answers = await Promise.all([
        send('PATCH', '/items/article/1', { title: 'x' }, token),
        send('PATCH', '/items/article/99', { title: 'x' }, token),
        send('PATCH', '/items/article/x', { title: 'x' }, token),
        send('DELETE', '/items/article/1', undefined, token),
        send('DELETE', '/items/article', [99], token),
        send('POST', '/items/article', { status: 'x' }, token),
        send('POST', '/items/article', { unknown: 'x' }, token),
        send('POST', '/items/unknown', {}, token),
        send('POST', '/items/platform_users', {}, token),
        send('PATCH', '/items/platform_users/1', {}, token),
        send('DELETE', '/items/platform_roles', [1], token),
        send('SEARCH', '/items/platform_users', {}, token),
        send('PATCH', '/items/article', { query: { filter: { title: 'a' } }, data: { title: 'x' } }, token),
      ]);
      for (const { status, body } of answers) {
        expect([status, body]).to.deep.equal([
          403,
          { errors: [{ message: "You don't have permission to access this.", extensions: { code: 'FORBIDDEN' } }] },
        ]);
      }
    });

    it('/items serves no system collections, for admins either', async () => {
      await refused('DELETE', '/items/platform_roles', [1], 403, 'FORBIDDEN');
      await refused('SEARCH', '/items/platform_users', {}, 403, 'FORBIDDEN');
    });

    it('a caller without read permission gets 204, another only what it may read', async () => {
      const writer = await createUserWithPermissions(service, [
        { collection: 'article', action: 'create' },
        { collection: 'article', action: 'update' },
        { collection: 'article', action: 'delete' },
      ]);
      for (const [method, path, body] of [
        ['POST', '/items/article', { title: 'a' }],
        ['POST', '/items/article', [{ title: 'b' }]],
        ['PATCH', '/items/article/1', { title: 'c' }],
        ['PATCH', '/items/article', { keys: [1], data: { title: 'd' } }],
        ['PATCH', '/items/article', [{ id: 1, title: 'e' }]],
        ['PATCH', '/items/article', { query: {}, data: { title: 'f' } }],
      ] as const) {
        const reply = await send(method, path, body, writer.token);
        expect([reply.status, reply.body], `${method} ${JSON.stringify(body)}`).to.deep.equal([204, undefined]);
      }
      expect(await database.query('select title from article')).to.deep.equal([{ title: 'f' }, { title: 'f' }]);
      const some = await createUserWithPermissions(service, [
        { collection: 'article', action: 'create' },
        { collection: 'article', action: 'read', fields: ['title'], permissions: { title: { _neq: 'hidden' } } },
      ]);
      expect(await ok('POST', '/items/article', [{ title: 'hidden' }, { title: 'shown' }], some.token)).to.deep.equal([
        { title: 'shown' },
      ]);
      expect((await send('POST', '/items/article', { title: 'hidden' }, some.token)).status).to.equal(204);
    });

    it('a singleton is created by the create permission and changed by the update permission', async () => {
      const { token } = await createUserWithPermissions(service, [
        { collection: 'site', action: 'update', fields: ['color'] },
        { collection: 'site', action: 'read' },
      ]);
      await refused('PATCH', '/items/site', { color: 'x' }, 403, 'FORBIDDEN', token);
      await ok('PATCH', '/items/site', { name: 'Mine' });
      expect(await ok('PATCH', '/items/site?fields=name,color', { color: 'x' }, token)).to.deep.equal({
        name: 'Mine',
        color: 'x',
      });
      await refused('PATCH', '/items/site', { name: 'x' }, 403, 'FORBIDDEN', token);
    });
  });
});

describe('MAX_BATCH_MUTATION, the largest number of rows that a request writes', () => {
  it('counts nested rows', async () => {
    const database = await createMigratedDatabase('conf_ceiling');
    await database.query(
      'create table up (id serial primary key, name text); create table down (id serial primary key, up int references up)',
    );
    const service = await startService({ database, env: { MAX_BATCH_MUTATION: '3' } });
    try {
      await requestAsAdmin(service, 'POST', '/fields/up', {
        field: 'downs',
        type: 'alias',
        meta: { special: ['o2m'] },
      });
      await requestAsAdmin(service, 'PATCH', '/relations/down/up', { meta: { one_field: 'downs' } });
      const send = (body: unknown) => service.request('POST', '/items/up', { token: service.admin.token, body });
      expect((await send({ name: 'a', downs: [{}, {}] })).status).to.equal(200);
      for (const body of [{ downs: [{}, {}, {}] }, [{}, {}, {}, {}]]) {
        const reply = await send(body);
        expect([reply.status, reply.body.errors[0].extensions.code]).to.deep.equal([400, 'INVALID_PAYLOAD']);
      }
      expect(await database.query('select count(*)::int as n from up')).to.deep.equal([{ n: 1 }]);
    } finally {
      await service.stop();
      await database.drop();
    }
  });
});
