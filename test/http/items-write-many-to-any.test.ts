import { expect } from 'chai';
import { recordStatementsDuring } from '../support/capture-sql-statements.ts';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';
import { createUserWithPermissions, requestAsAdmin } from './test-users.ts';

const BOTH = ['heading', 'picture'];

describe('writes of many-to-any relations', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  before(async () => {
    database = await createMigratedDatabase('write_any');
    await database.query(`
      create table page (id serial primary key, title text);
      create table heading (id serial primary key, text text not null, page int);
      create table picture (id uuid primary key default gen_random_uuid(), url text);
      create table hidden (id serial primary key, text text);
      create table block (id serial primary key, page int references page, collection varchar(64), item varchar(255), sort int);
      create table pinned (id serial primary key, kind text, target text);
    `);
    service = await startService({ database });
    const admin = (method: string, path: string, body: unknown) => requestAsAdmin(service, method, path, body);
    await admin('POST', '/fields/page', { field: 'blocks', type: 'alias', meta: { special: ['m2a'] } });
    await admin('PATCH', '/relations/block/page', {
      meta: { one_field: 'blocks', junction_field: 'item', one_deselect_action: 'delete', sort_field: 'sort' },
    });
    for (const [collection, field, by] of [
      ['block', 'item', 'collection'],
      ['pinned', 'target', 'kind'],
    ]) {
      await admin('POST', '/relations', {
        collection,
        field,
        related_collection: null,
        meta: { one_collection_field: by, one_allowed_collections: BOTH },
      });
    }
  });
  beforeEach(() => database.query('truncate page, heading, picture, hidden, block, pinned restart identity cascade'));
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  const send = (method: string, path: string, body?: unknown, token: string = service.admin.token) =>
    service.request(method, path, { token, body });
  const ok = async (method: string, path: string, body?: unknown, token?: string) => {
    const reply = await send(method, path, body, token);
    expect(reply.status, `${method} ${path} ${JSON.stringify(reply.body)}`).to.be.within(200, 204);
    return reply.body?.data;
  };
  const refused = async (
    body: unknown,
    status: number,
    code: string,
    path: readonly (string | number)[] = [],
    token?: string,
  ) => {
    const reply = await send('POST', '/items/page', body, token);
    expect([reply.status, reply.body.errors?.[0].extensions.code], JSON.stringify(reply.body)).to.deep.equal([
      status,
      code,
    ]);
    if (path.length > 0) expect(reply.body.errors[0].extensions.path).to.deep.equal(path);
    for (const table of ['page', 'block', 'heading', 'picture'])
      expect(await database.query(`select 1 from ${table}`), table).to.deep.equal([]);
  };
  const blocks = () => database.query('select page, collection, item, sort from block order by id');
  const ID = '8f0a53a6-34f8-4d5a-9a1c-3f3d9f0a7c11';

  it('PATCH and POST create, change and link rows of each collection, and store their keys as texts', async () => {
    await ok('POST', '/items/heading', { text: 'there' });
    await ok('POST', '/items/page', {
      title: 'Home',
      blocks: [
        { collection: 'heading', item: { text: 'new' } },
        { collection: 'picture', item: { id: ID, url: 'a.png' } },
        { collection: 'heading', item: { id: 1, text: 'changed' } },
        { collection: 'heading', item: 2 },
        { collection: 'picture', item: ID.toUpperCase() },
        { collection: 'heading', item: null },
      ],
    });
    expect(await blocks()).to.deep.equal([
      { page: 1, collection: 'heading', item: '2', sort: null },
      { page: 1, collection: 'picture', item: ID, sort: null },
      { page: 1, collection: 'heading', item: '1', sort: null },
      { page: 1, collection: 'heading', item: '2', sort: null },
      { page: 1, collection: 'picture', item: ID, sort: null },
      { page: 1, collection: 'heading', item: null, sort: null },
    ]);
    expect(await database.query('select id, text from heading order by id')).to.deep.equal([
      { id: 1, text: 'changed' },
      { id: 2, text: 'new' },
    ]);
    expect(await database.query('select id, url from picture')).to.deep.equal([{ id: ID, url: 'a.png' }]);
  });

  it('rows of one collection are written by one statement', async () => {
    const body = {
      blocks: [
        { collection: 'heading', item: { text: 'a' } },
        { collection: 'picture', item: { url: 'a' } },
        { collection: 'heading', item: { text: 'b' } },
        { collection: 'picture', item: { url: 'b' } },
      ],
    };
    const texts = await recordStatementsDuring(() => ok('POST', '/items/page?fields=id', [body, body]));
    expect(texts.filter((text) => /insert into "public"\."(page|block|heading|picture)"/.test(text))).to.have.length(4);
    const rows = await blocks();
    const urls = await database.query<{ id: string; url: string }>('select id, url from picture');
    const shown = rows.map(({ page, collection, item }) => [
      page,
      collection,
      urls.find(({ id }) => id === item)?.url ?? item,
    ]);
    expect(shown).to.deep.equal([
      [1, 'heading', '1'],
      [1, 'picture', 'a'],
      [1, 'heading', '2'],
      [1, 'picture', 'b'],
      [2, 'heading', '3'],
      [2, 'picture', 'a'],
      [2, 'heading', '4'],
      [2, 'picture', 'b'],
    ]);
  });

  it('{ create, update, delete } is accepted, and a list unlinks the rows that it omits', async () => {
    await ok('POST', '/items/page', {
      blocks: {
        create: [
          { collection: 'heading', item: { text: 'a' } },
          { collection: 'heading', item: { text: 'b' } },
        ],
      },
    });
    await ok('PATCH', '/items/page/1', {
      blocks: {
        create: [{ collection: 'picture', item: { id: ID, url: 'p' } }],
        update: [{ id: 2, collection: 'heading', item: { id: 2, text: 'B' } }],
        delete: [1],
      },
    });
    expect(await blocks()).to.deep.equal([
      { page: 1, collection: 'heading', item: '2', sort: 2 },
      { page: 1, collection: 'picture', item: ID, sort: 3 },
    ]);
    expect(await database.query('select text from heading order by id')).to.deep.equal([{ text: 'a' }, { text: 'B' }]);
    await ok('PATCH', '/items/page/1', { blocks: [3] });
    expect(await blocks()).to.deep.equal([{ page: 1, collection: 'picture', item: ID, sort: 3 }]);
  });

  it('a row is written whatever names its two fields have', async () => {
    const created = await ok('POST', '/items/pinned?fields=id,kind', { kind: 'heading', target: { text: 'new' } });
    expect(created).to.deep.equal({ id: 1, kind: 'heading' });
    await ok('PATCH', '/items/pinned/1', { kind: 'picture', target: { id: ID } });
    expect(await database.query('select kind, target from pinned')).to.deep.equal([{ kind: 'picture', target: ID }]);
    expect(await database.query('select id from picture')).to.deep.equal([{ id: ID }]);
    await ok('PATCH', '/items/pinned/1', { kind: null, target: null });
    expect(await database.query('select kind, target from pinned')).to.deep.equal([{ kind: null, target: null }]);
  });

  it('an object without its collection and a collection that is not allowed are rejected', async () => {
    await refused({ blocks: [{ item: { text: 'a' } }] }, 400, 'INVALID_PAYLOAD', ['blocks', 0, 'item']);
    await refused({ blocks: [{ collection: null, item: { text: 'a' } }] }, 400, 'INVALID_PAYLOAD');
    for (const collection of ['hidden', 'nothing', 'platform_users', '', 5, ['heading'], { a: 1 }]) {
      await refused({ blocks: [{ collection, item: { text: 'a' } }] }, 400, 'INVALID_PAYLOAD', [
        'blocks',
        0,
        'collection',
      ]);
      await refused({ blocks: [{ collection, item: 1 }] }, 400, 'INVALID_PAYLOAD');
      await refused({ blocks: [{ collection }] }, 400, 'INVALID_PAYLOAD');
    }
  });

  it('keys that the collection cannot have are rejected, with the path of the nested row', async () => {
    await refused({ blocks: [{ collection: 'picture', item: 'x' }] }, 400, 'INVALID_PAYLOAD', ['blocks', 0, 'item']);
    await refused({ blocks: [{ collection: 'heading', item: [1] }] }, 400, 'INVALID_PAYLOAD');
    const reply = await send('POST', '/items/page', { blocks: [{ collection: 'heading', item: {} }] });
    expect(reply.body.errors[0].extensions).to.include({ code: 'FAILED_VALIDATION', field: 'text', type: 'required' });
    expect(reply.body.errors[0].extensions.path).to.deep.equal(['blocks', 0, 'item']);
    expect(await blocks()).to.deep.equal([]);
  });

  it('a nested object needs a grant on its collection, a bare key does not', async () => {
    const { token } = await createUserWithPermissions(service, [
      { collection: 'page', action: 'create' },
      { collection: 'block', action: 'create', fields: ['collection', 'item'] },
      { collection: 'picture', action: 'create' },
    ]);
    await refused({ blocks: [{ collection: 'heading', item: { text: 'a' } }] }, 403, 'FORBIDDEN', [], token);
    await ok('POST', '/items/page', { blocks: [{ collection: 'picture', item: { id: ID } }] }, token);
    await ok('POST', '/items/page', { blocks: [{ collection: 'heading', item: 7 }] }, token);
    expect((await blocks()).map(({ collection, item }) => [collection, item])).to.deep.equal([
      ['picture', ID],
      ['heading', '7'],
    ]);
  });
});
