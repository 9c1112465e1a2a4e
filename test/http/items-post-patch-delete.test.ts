import { expect } from 'chai';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';
import { createUserWithPermissions, requestAsAdmin } from './test-users.ts';

describe('POST, PATCH and DELETE /items/<collection>', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  before(async () => {
    database = await createMigratedDatabase('writes');
    await database.query(`
      create table author (id serial primary key, name text not null, boss int references author);
      create table article (id serial primary key, title text, status text default 'draft', author int references author);
      create table note (id uuid primary key default gen_random_uuid(), text text, article int not null references article);
      create table site (id serial primary key, name text default 'Untitled', color text);
      create view loud as select id, upper(title) as title from article;
    `);
    service = await startService({ database });
    const admin = (method: string, path: string, body: unknown) => requestAsAdmin(service, method, path, body);
    for (const [one, field, many, key] of [
      ['author', 'articles', 'article', 'author'],
      ['article', 'notes', 'note', 'article'],
    ]) {
      await admin('POST', `/fields/${one}`, { field, type: 'alias', meta: { special: ['o2m'] } });
      const action = many === 'note' ? 'delete' : 'nullify';
      await admin('PATCH', `/relations/${many}/${key}`, { meta: { one_field: field, one_deselect_action: action } });
    }
    await admin('PATCH', '/collections/site', { meta: { singleton: true } });
  });
  beforeEach(() => database.query('truncate author, article, note, site restart identity cascade'));
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  const send = (method: string, path: string, body?: unknown, token: string | null = service.admin.token) =>
    service.request(method, path, { token, body });

  it('POST creates one row and answers it through the fields of the request', async () => {
    const { status, body } = await send('POST', '/items/author?fields=name', { name: 'Ann' });
    expect([status, body]).to.deep.equal([200, { data: { name: 'Ann' } }]);
  });

  it('POST creates many rows, in their order, with defaults for omitted fields', async () => {
    const { body } = await send('POST', '/items/article?fields=id,title,status', [{ title: 'a' }, { status: 'x' }, {}]);
    expect(body.data).to.deep.equal([
      { id: 1, title: 'a', status: 'draft' },
      { id: 2, title: null, status: 'x' },
      { id: 3, title: null, status: 'draft' },
    ]);
  });

  it('PATCH updates by key, by keys, by query and row by row', async () => {
    await send('POST', '/items/article', [{ title: 'a' }, { title: 'b' }, { title: 'c' }]);
    expect((await send('PATCH', '/items/article/1?fields=title', { title: 'A' })).body.data).to.deep.equal({
      title: 'A',
    });
    const keys = await send('PATCH', '/items/article?fields=id,status', { keys: [3, 1], data: { status: 'x' } });
    expect(keys.body.data).to.deep.equal([
      { id: 3, status: 'x' },
      { id: 1, status: 'x' },
    ]);
    const query = await send('PATCH', '/items/article?fields=id', {
      query: { filter: { status: 'x' } },
      data: { title: 'z' },
    });
    expect(query.body.data).to.deep.equal([{ id: 1 }, { id: 3 }]);
    const rows = await send('PATCH', '/items/article?fields=title', [
      { id: 1, title: '1' },
      { id: 2, title: '2' },
    ]);
    expect(rows.body.data).to.deep.equal([{ title: '1' }, { title: '2' }]);
  });

  it('DELETE deletes by key, by list, by keys and by query', async () => {
    await send(
      'POST',
      '/items/article',
      Array.from({ length: 6 }, (_, at) => ({ title: `t${at + 1}` })),
    );
    expect((await send('DELETE', '/items/article/1')).status).to.equal(204);
    expect((await send('DELETE', '/items/article', [2])).status).to.equal(204);
    expect((await send('DELETE', '/items/article', { keys: [3] })).status).to.equal(204);
    const query = { filter: { title: { _in: ['t4', 't5'] } } };
    expect((await send('DELETE', '/items/article', { query })).status).to.equal(204);
    expect((await send('GET', '/items/article?fields=id')).body.data).to.deep.equal([{ id: 6 }]);
  });

  it('PATCH and DELETE reject a query with an unknown parameter, which would select all rows', async () => {
    const before = (await send('GET', '/items/author')).body.data;
    for (const query of [{ filters: { id: 1 } }, { aggregate: { count: '*' } }, { where: {} }]) {
      for (const [method, body] of [
        ['DELETE', { query }],
        ['PATCH', { query, data: { name: 'x' } }],
      ] as const) {
        const { status, body: reply } = await send(method, '/items/author', body);
        expect([status, reply.errors[0].extensions.code], JSON.stringify(query)).to.deep.equal([400, 'INVALID_QUERY']);
      }
    }
    expect((await send('GET', '/items/author')).body.data).to.deep.equal(before);
  });

  it('POST and PATCH accept a many-to-one as key, new object, existing object and null', async () => {
    await send('POST', '/items/author', { name: 'Ann' });
    const article = async (author: unknown) =>
      (await send('POST', '/items/article?fields=author.id,author.name', { author })).body.data.author;
    expect(await article(1)).to.deep.equal({ id: 1, name: 'Ann' });
    expect(await article({ name: 'Bob', boss: { name: 'Cy' } })).to.deep.equal({ id: 3, name: 'Bob' });
    expect(await article({ id: 1, name: 'Anna' })).to.deep.equal({ id: 1, name: 'Anna' });
    expect(await article({ id: 1 })).to.deep.equal({ id: 1, name: 'Anna' });
    expect(await article({ id: 50, name: 'New' })).to.deep.equal({ id: 50, name: 'New' });
    expect(await article(null)).to.equal(null);
    expect((await send('POST', '/items/article', { author: 99 })).body.errors[0].extensions).to.include({
      code: 'INVALID_FOREIGN_KEY',
      field: 'author',
    });
  });

  it('PATCH replaces a one-to-many by a list of keys and objects', async () => {
    await send('POST', '/items/article', [{ title: 'free' }, { title: 'also free' }]);
    await send('POST', '/items/author', { name: 'Ann', articles: [{ title: 'new' }, 1] });
    const of = async () => (await send('GET', '/items/author/1?fields=articles.id,articles.title')).body.data.articles;
    expect(await of()).to.deep.equal([
      { id: 1, title: 'free' },
      { id: 3, title: 'new' },
    ]);
    await send('PATCH', '/items/author/1', { articles: [{ id: 3, title: 'newer' }, 2] });
    expect(await of()).to.deep.equal([
      { id: 2, title: 'also free' },
      { id: 3, title: 'newer' },
    ]);
    expect((await send('GET', '/items/article/1?fields=author')).body.data.author).to.equal(null);
    await send('PATCH', '/items/author/1', { articles: null });
    expect(await of()).to.deep.equal([]);
  });

  it('PATCH deletes omitted rows where the relation says so, also where their foreign key is not null', async () => {
    await send('POST', '/items/article', { title: 'a', notes: [{ text: 'x' }, { text: 'y' }] });
    const { body } = await send('PATCH', '/items/article/1?fields=notes.text', { notes: [{ text: 'z' }] });
    expect(body.data.notes).to.deep.equal([{ text: 'z' }]);
    expect(await database.query('select text from note')).to.deep.equal([{ text: 'z' }]);
  });

  it('PATCH changes a one-to-many by { create, update, delete } and leaves the other rows', async () => {
    await send('POST', '/items/author', { name: 'Ann', articles: [{ title: 'a' }, { title: 'b' }, { title: 'c' }] });
    const articles = { create: [{ title: 'd' }], update: [{ id: 1, title: 'A' }], delete: [2] };
    const { body } = await send('PATCH', '/items/author/1?fields=articles.title', { articles });
    expect(body.data.articles).to.deep.equal([{ title: 'A' }, { title: 'c' }, { title: 'd' }]);
    const foreign = await send('PATCH', '/items/author/1', { articles: { delete: [2] } });
    expect(foreign.status).to.equal(403);
    expect(
      (await send('PATCH', '/items/author/1', { articles: { nonsense: [] } })).body.errors[0].extensions.code,
    ).to.equal('INVALID_PAYLOAD');
    expect((await send('PATCH', '/items/author/1', { articles: 5 })).body.errors[0].extensions.code).to.equal(
      'INVALID_PAYLOAD',
    );
  });

  it('POST writes nothing of a nested payload whose last part fails', async () => {
    const body = { name: 'Ann', articles: [{ title: 'a', author: 1 }, { id: 'wrong' }] };
    expect((await send('POST', '/items/author', body)).status).to.equal(403);
    expect(await database.query('select * from author')).to.deep.equal([]);
    expect(await database.query('select * from article')).to.deep.equal([]);
  });

  it('a singleton is served as one object', async () => {
    expect((await send('GET', '/items/site')).body.data).to.deep.equal({ id: null, name: 'Untitled' });
    expect((await send('PATCH', '/items/site', { color: 'red' })).body.data).to.deep.equal({
      id: 1,
      name: 'Untitled',
      color: 'red',
    });
    expect((await send('PATCH', '/items/site', { name: 'Mine' })).body.data).to.deep.equal({
      id: 1,
      name: 'Mine',
      color: 'red',
    });
    expect((await send('GET', '/items/site')).body.data).to.deep.equal({ id: 1, name: 'Mine', color: 'red' });
    for (const [method, path] of [
      ['POST', '/items/site'],
      ['PATCH', '/items/site/1'],
    ] as const) {
      const reply = await send(method, path, { name: 'x' });
      expect([reply.status, reply.body.errors[0].extensions.code]).to.deep.equal([404, 'ROUTE_NOT_FOUND']);
    }
  });

  it('a view is read and not written', async () => {
    await send('POST', '/items/article', { title: 'quiet' });
    expect((await send('GET', '/items/loud')).body.data).to.deep.equal([{ id: 1, title: 'QUIET' }]);
    expect((await send('POST', '/items/loud', { title: 'x' })).status).to.equal(403);
  });

  describe('under permissions', () => {
    it('a batch fails entirely when one row may not be updated', async () => {
      await send('POST', '/items/article', [{ status: 'mine' }, { status: 'theirs' }]);
      const { token } = await createUserWithPermissions(service, [
        { collection: 'article', action: 'update', permissions: { status: { _eq: 'mine' } } },
        { collection: 'article', action: 'delete', permissions: { status: { _eq: 'mine' } } },
        { collection: 'article', action: 'read' },
      ]);
      for (const [method, body] of [
        ['PATCH', { keys: [1, 2], data: { title: 'x' } }],
        ['PATCH', { query: {}, data: { title: 'x' } }],
        [
          'PATCH',
          [
            { id: 1, title: 'x' },
            { id: 2, title: 'x' },
          ],
        ],
        ['DELETE', [1, 2]],
        ['DELETE', { query: { filter: { id: { _gt: 0 } } } }],
      ] as const) {
        expect((await send(method, '/items/article', body, token)).status, JSON.stringify(body)).to.equal(403);
      }
      expect(await database.query('select title from article')).to.deep.equal([{ title: null }, { title: null }]);
      expect((await send('PATCH', '/items/article/1?fields=title', { title: 'x' }, token)).body.data).to.deep.equal({
        title: 'x',
      });
    });

    it('fields outside of the list are rejected and presets are added', async () => {
      const { token, id } = await createUserWithPermissions(service, [
        { collection: 'article', action: 'create', fields: ['title'], presets: { status: '$CURRENT_USER' } },
        { collection: 'article', action: 'read', fields: ['title', 'status'] },
      ]);
      expect((await send('POST', '/items/article', { title: 'a', status: 'b' }, token)).status).to.equal(403);
      expect((await send('POST', '/items/article', { title: 'a' }, token)).body.data).to.deep.equal({
        title: 'a',
        status: id,
      });
    });

    it('a caller that may create but not read gets 204', async () => {
      const { token } = await createUserWithPermissions(service, [{ collection: 'article', action: 'create' }]);
      const reply = await send('POST', '/items/article', { title: 'a' }, token);
      expect([reply.status, reply.body]).to.deep.equal([204, undefined]);
    });

    it('the validation of a permission is checked', async () => {
      const { token } = await createUserWithPermissions(service, [
        { collection: 'article', action: 'create', validation: { title: { _starts_with: 'A' } } },
      ]);
      const { status, body } = await send('POST', '/items/article', { title: 'b' }, token);
      expect(status).to.equal(400);
      expect(body.errors[0].extensions).to.include({ code: 'FAILED_VALIDATION', field: 'title', type: 'starts_with' });
      expect((await send('POST', '/items/article', { title: 'Ab' }, token)).status).to.equal(204);
    });

    it('nested writes are checked on the related collection', async () => {
      await send('POST', '/items/article', { title: 'theirs' });
      const { token } = await createUserWithPermissions(service, [
        { collection: 'author', action: 'create', fields: ['name', 'articles'] },
        { collection: 'article', action: 'create', fields: ['title'] },
      ]);
      expect((await send('POST', '/items/author', { name: 'a', articles: [{ title: 'x' }] }, token)).status).to.equal(
        204,
      );
      // Linking an existing row by its key needs update permission on the collection of the row.
      expect((await send('POST', '/items/author', { name: 'b', articles: [1] }, token)).status).to.equal(403);
      expect((await send('POST', '/items/author', { name: 'c', articles: [{ status: 'x' }] }, token)).status).to.equal(
        403,
      );
      expect(await database.query('select name from author')).to.deep.equal([{ name: 'a' }]);
    });

    it('the filter of a write cannot test hidden fields', async () => {
      await send('POST', '/items/article', [{ title: 'a', status: 'secret' }]);
      const { token } = await createUserWithPermissions(service, [
        { collection: 'article', action: 'update', fields: ['title'] },
        { collection: 'article', action: 'delete' },
        { collection: 'article', action: 'read', fields: ['id'] },
      ]);
      const query = { filter: { status: { _eq: 'secret' } } };
      expect((await send('PATCH', '/items/article', { query, data: { title: 'x' } }, token)).status).to.equal(403);
      expect((await send('DELETE', '/items/article', { query }, token)).status).to.equal(403);
    });
  });
});
