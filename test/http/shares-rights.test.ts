import { expect } from 'chai';
import { PUBLIC_ROLE_ID } from '../../plugins/access/contract.ts';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';
import { type AssetStorageFixture, createAssetStorageFixture } from './asset-storage-fixture.ts';
import {
  createSharer,
  createVisitor,
  prepareShareTables,
  readAll,
  signInByShare,
  type TestVisitor,
} from './share-fixture.ts';
import { requestAsAdmin, type TestPermission } from './test-users.ts';

const ALL = ['author', 'remark', 'tag', 'article_tag', 'heading', 'quote', 'block', 'price', 'discount', 'diary'];

describe('rights of visitors of a share', () => {
  let ground: AssetStorageFixture;
  let database: FreshDatabase;
  let service: InProcessService;

  before(async function () {
    this.timeout(120_000);
    ground = await createAssetStorageFixture();
    database = await createMigratedDatabase('share_rights');
    service = await startService({
      database,
      env: { ...ground.env, CACHE_ENABLED: 'true', CACHE_STATUS_HEADER: 'x-cache' },
    });
    await prepareShareTables(service);
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
    await ground?.remove();
  });

  const visit = async (permissions: readonly TestPermission[], shared: { collection?: string; item?: string } = {}) =>
    createVisitor(service, { role: (await createSharer(service, permissions)).role, ...shared });
  const get = (path: string, { token }: Pick<TestVisitor, 'token'>) => service.request('GET', path, { token });
  const idsOf = async (collection: string, visitor: TestVisitor): Promise<unknown> => {
    const { status, body } = await get(`/items/${collection}?fields=*&sort=id&limit=-1`, visitor);
    return status === 200 ? body.data.map(({ id }: { id: unknown }) => id) : status;
  };

  it('reaches rows over every kind of relation, and no others', async () => {
    const visitor = await visit(readAll(...ALL));
    const found: Record<string, unknown> = {};
    for (const name of [...ALL.filter((one) => one !== 'price'), 'article']) found[name] = await idsOf(name, visitor);
    expect(found).to.deep.equal({
      author: [1],
      remark: [1, 2],
      tag: [1, 2],
      article_tag: [1, 2],
      heading: [1],
      quote: ['00000000-0000-4000-8000-000000000001'],
      block: [1, 2],
      // No field of another collection leads to these.
      discount: 403,
      diary: 403,
      // Another article of the same author, at which the path ends.
      article: [1, 2],
    });
    const prices = (await get('/items/price?fields=country,amount', visitor)).body.data;
    expect(prices).to.deep.equal([
      { country: 'at', amount: 10 },
      { country: 'de', amount: 11 },
    ]);
    for (const [path, status] of [
      ['/items/article/1', 200],
      ['/items/article/3', 403],
      ['/items/price/1,de', 200],
      ['/items/price/3,at', 403],
      ['/items/tag/3', 403],
      ['/items/diary/1', 403],
    ] as const)
      expect([path, (await get(path, visitor)).status]).to.deep.equal([path, status]);
  });

  it('reaches a row by a composite foreign key, from an item with one and from an item with a composite key', async () => {
    const ofDiscount = await visit(readAll(...ALL), { collection: 'discount', item: '2' });
    expect((await get('/items/price?fields=*', ofDiscount)).body.data).to.deep.equal([
      { article: 3, country: 'at', amount: 30 },
    ]);
    const ofPrice = await visit(readAll(...ALL), { collection: 'price', item: '3,at' });
    expect(await idsOf('article', ofPrice)).to.deep.equal([3]);
    expect(await idsOf('discount', ofPrice)).to.equal(403);
  });

  it('field lists and row rules of the role hold for the rows and for the ways to them', async () => {
    const rule = { state: { _eq: 'public' } };
    const visitor = await visit([
      { collection: 'remark', action: 'read', permissions: rule, fields: ['id', 'words'] },
      ...readAll('author'),
    ]);
    expect((await get('/items/remark?fields=*', visitor)).body.data).to.deep.equal([{ id: 1, words: 'one' }]);
    expect((await get('/items/remark/2', visitor)).status).to.equal(403);
    expect((await get('/items/remark?filter[state][_eq]=hidden', visitor)).status).to.equal(403);
    // A role that may not read the relation, or the rows of the junction, reaches nothing behind them.
    const narrow = await createSharer(service, readAll('author', 'tag', 'heading', 'block'));
    await service.database.query(
      `update platform_permissions set fields = 'id,title,tags,blocks' where role = $1 and collection = 'article' and action = 'read'`,
      [narrow.role],
    );
    await requestAsAdmin(service, 'POST', '/permissions', {
      role: narrow.role,
      collection: 'quote',
      action: 'read',
      fields: ['*'],
    });
    const other = await createVisitor(service, { role: narrow.role });
    expect([await idsOf('author', other), await idsOf('tag', other), await idsOf('heading', other)]).to.deep.equal([
      403,
      403,
      [1],
    ]);
  });

  it('rules with $CURRENT_USER match no row', async () => {
    for (const operator of ['_eq', '_neq']) {
      const permissions = { name: { [operator]: '$CURRENT_USER' } };
      expect(await idsOf('author', await visit([{ collection: 'author', action: 'read', permissions }]))).to.deep.equal(
        [],
      );
    }
  });

  it('filters, search, aggregates, counts and meta see reachable rows only', async () => {
    const visitor = await visit(readAll(...ALL));
    const read = async (path: string) => (await get(path, visitor)).body;
    expect((await read('/items/tag?aggregate[count]=*')).data).to.deep.equal([{ count: 2 }]);
    expect((await read('/items/tag?meta=*&limit=1')).meta).to.deep.equal({ total_count: 2, filter_count: 2 });
    expect((await read('/items/heading?search=third')).data).to.deep.equal([]);
    expect((await read('/items/article?filter[tags][tag][label][_eq]=green')).data).to.deep.equal([]);
    expect((await read('/items/author/1?fields=count(articles)')).data).to.deep.equal({ articles_count: 2 });
    // The second article is reached at the end of a path, so that its remarks are not.
    expect((await read('/items/article/2?fields=remarks.id,count(remarks)')).data).to.deep.equal({
      remarks: [],
      remarks_count: 0,
    });
  });

  it('GraphQL has the reachable collections, and their rows', async () => {
    const visitor = await visit(readAll(...ALL));
    const query =
      '{ article_by_id(id: 3) { id } tag { label } __schema { queryType { fields { name } } mutationType { name } } }';
    const { body } = await service.request('POST', '/graphql', { token: visitor.token, body: { query } });
    expect(body.data.article_by_id).to.equal(null);
    expect(body.data.tag).to.deep.equal([{ label: 'red' }, { label: 'blue' }]);
    const names = body.data.__schema.queryType.fields.map(({ name }: { name: string }) => name);
    expect(names).to.include.members(['article', 'author', 'price']).and.not.include.members(['diary', 'discount']);
    expect(body.data.__schema.mutationType).to.equal(null);
  });

  it('visitors of two items of one collection have one GraphQL schema and rows of their own', async () => {
    const { role } = await createSharer(service, readAll(...ALL));
    const visitors = [
      await createVisitor(service, { role, item: '1' }),
      await createVisitor(service, { role, item: '3' }),
    ];
    const titles: unknown[] = [];
    for (const { token } of [...visitors, ...visitors]) {
      const body = { query: '{ article { title } }' };
      titles.push((await service.request('POST', '/graphql', { token, body })).body.data.article[0].title);
    }
    expect(titles).to.deep.equal(['first', 'third', 'first', 'third']);
  });

  it('the response cache keeps answers of different shares apart, and answers of one share', async () => {
    const { role } = await createSharer(service, readAll(...ALL));
    const [first, third, again] = [
      await createVisitor(service, { role, item: '1' }),
      await createVisitor(service, { role, item: '3' }),
      await createVisitor(service, { role, item: '1' }),
    ];
    const path = '/items/article?fields=title&sort=id&limit=1';
    const read = async (visitor: TestVisitor) => {
      const { body, headers } = await get(path, visitor);
      return [body.data[0].title, headers.get('x-cache'), headers.get('cache-control')?.includes('public') ?? false];
    };
    await read(first);
    expect([await read(first), await read(third), await read(third), await read(again)]).to.deep.equal([
      ['first', 'HIT', false],
      ['third', 'MISS', false],
      ['third', 'HIT', false],
      ['first', 'MISS', false],
    ]);
    await service.database.query('update article_tag set tag = 3 where article = 1 and tag = 2');
    const tags = async () => (await get('/items/tag?fields=label&sort=label', first)).body.data.flatMap(Object.values);
    expect(await tags()).to.deep.equal(['green', 'red']);
    await requestAsAdmin(service, 'PATCH', '/items/article_tag/2', { tag: 2 });
    expect(await tags()).to.deep.equal(['blue', 'red']);
  });

  it('a change of the role, of its permissions or of the tables is in force at once', async () => {
    const { role } = await createSharer(service, readAll('author'));
    const visitor = await createVisitor(service, { role });
    expect(await idsOf('tag', visitor)).to.equal(403);
    for (const collection of ['tag', 'article_tag'])
      await requestAsAdmin(service, 'POST', '/permissions', { role, collection, action: 'read', fields: ['*'] });
    expect(await idsOf('tag', visitor)).to.deep.equal([1, 2]);
    await requestAsAdmin(service, 'PATCH', `/shares/${visitor.share}`, { role: null });
    expect(await idsOf('tag', visitor)).to.equal(403);
    await requestAsAdmin(service, 'PATCH', `/shares/${visitor.share}`, { role });
    await requestAsAdmin(service, 'POST', '/fields/author', { field: 'favourite', type: 'integer' });
    await requestAsAdmin(service, 'POST', '/relations', {
      collection: 'author',
      field: 'favourite',
      related_collection: 'tag',
    });
    await service.database.query('update author set favourite = 3 where id = 1');
    expect(await idsOf('tag', visitor)).to.deep.equal([1, 2, 3]);
    await requestAsAdmin(service, 'DELETE', '/fields/author/favourite');
    expect(await idsOf('tag', visitor)).to.deep.equal([1, 2]);
  });

  it('a share without a role has the permissions of the Public role', async () => {
    const { id } = await requestAsAdmin(service, 'POST', '/permissions', {
      ...{ role: PUBLIC_ROLE_ID, collection: 'article', action: 'read', fields: ['id', 'title'] },
    });
    const visitor = await createVisitor(service, { role: null, item: '3' });
    expect((await get('/items/article', visitor)).body.data).to.deep.equal([{ id: 3, title: 'third' }]);
    await requestAsAdmin(service, 'DELETE', `/permissions/${id}`);
    expect((await get('/items/article', visitor)).status).to.equal(403);
  });

  it('neither app access nor admin access of the role counts', async () => {
    for (const flags of [{ admin_access: true }, { app_access: true }]) {
      const { id: role } = await requestAsAdmin(service, 'POST', '/roles', { name: JSON.stringify(flags), ...flags });
      const visitor = await createVisitor(service, { role });
      for (const path of ['/items/article', '/users', '/settings', '/presets', '/roles', '/permissions'])
        expect([path, (await get(path, visitor)).status]).to.deep.equal([path, 403]);
      expect((await get('/users/me', visitor)).body.data).to.deep.equal({
        share: visitor.share,
        role: { id: role, admin_access: false, app_access: false },
      });
    }
  });

  it('bytes of reachable files are answered, by the token and by the cookie, and no others', async () => {
    const [image, other] = [await ground.file(database, 'image'), await ground.file(database, 'other')];
    await database.query('update article set image = $1 where id = 1', [image]);
    const { role } = await createSharer(service, readAll('platform_files'));
    const visitor = await createVisitor(service, { role });
    const reply = await get(`/assets/${image}`, visitor);
    expect([reply.status, reply.body]).to.deep.equal([200, 'image']);
    expect((await get(`/assets/${other}`, visitor)).status).to.equal(403);
    expect((await get(`/files/${image}?fields=id`, visitor)).body.data).to.deep.equal({ id: image });
    expect((await get('/files?fields=id', visitor)).body.data).to.deep.equal([{ id: image }]);
    const { headers } = await signInByShare(service, visitor.share, { mode: 'cookie' });
    const cookie = headers.get('set-cookie') as string;
    const byCookie = async (path: string) => (await service.request('GET', path, { headers: { cookie } })).status;
    expect([
      await byCookie(`/assets/${image}`),
      await byCookie(`/assets/${other}`),
      await byCookie('/items/article'),
    ]).to.deep.equal([200, 403, 403]);
    await requestAsAdmin(service, 'DELETE', `/shares/${visitor.share}`);
    expect(await byCookie(`/assets/${image}`)).to.equal(403);
    await database.query('update article set image = null');
  });

  it('the schema is readable as far as the rows are', async () => {
    const visitor = await visit(readAll('author', 'diary'));
    const collections = (await get('/collections', visitor)).body.data.map(
      ({ collection }: { collection: string }) => collection,
    );
    expect(collections)
      .to.include.members(['article', 'author'])
      .and.not.include.members(['diary', 'tag', 'platform_users']);
    expect((await get('/fields/author', visitor)).status).to.equal(200);
    expect((await get('/fields/diary', visitor)).status).to.equal(403);
    expect(JSON.stringify((await get('/relations', visitor)).body.data))
      .to.include('author')
      .and.not.include('article_tag');
    expect((await get('/server/info', visitor)).body.data).to.have.property('queryLimit');
    const rights = (await get('/permissions/me', visitor)).body.data;
    expect(rights.article.read.access).to.equal('partial');
    expect(rights.article.update.access).to.equal('none');
  });
});
