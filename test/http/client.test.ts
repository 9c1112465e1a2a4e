import {
  aggregate,
  authentication,
  type Command,
  clearCache,
  createCollection,
  createDirectus,
  createField,
  createItem,
  createItems,
  createPermission,
  createRelation,
  createRole,
  createUser,
  createUsers,
  deleteCollection,
  deleteField,
  deleteItem,
  deleteItems,
  deletePermission,
  deletePermissions,
  deleteRelation,
  deleteRole,
  deleteUser,
  deleteUsers,
  isDirectusError,
  readCollection,
  readCollections,
  readField,
  readFields,
  readFieldsByCollection,
  readItem,
  readItems,
  readMe,
  readPermissions,
  readProviders,
  readRelation,
  readRelationByCollection,
  readRelations,
  readRole,
  readRoles,
  readSingleton,
  readUser,
  readUsers,
  rest,
  serverHealth,
  serverInfo,
  serverPing,
  staticToken,
  updateCollection,
  updateCollectionsBatch,
  updateField,
  updateFields,
  updateItem,
  updateItems,
  updateItemsBatch,
  updateMe,
  updatePermission,
  updatePermissions,
  updateRelation,
  updateRole,
  updateRoles,
  updateSingleton,
  updateUser,
  updateUsers,
  updateUsersBatch,
  withOptions,
  withSearch,
  withToken,
} from '@directus/sdk';
import { expect } from 'chai';
import { type InProcess, startService } from '../support/service.ts';

/** A published client of this field, as its users have it: what it sends and expects is not ours to choose. */
describe('a published client', () => {
  // The client's types describe collections that this product does not have.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  type Loose = any;
  let service: InProcess;
  let request: (command: Loose) => Promise<Loose>;
  before(async () => {
    service = await startService({ env: { ACCESS_TOKEN_TTL: '15m' } });
    const client = createDirectus<Loose>(service.url).with(staticToken(service.admin.token)).with(rest());
    request = (command) => client.request(command as Command<Loose, Loose>);
  });
  after(() => service?.stop());

  // biome-ignore lint/suspicious/noExplicitAny: see above
  const articles = 'article' as any;
  // biome-ignore lint/suspicious/noExplicitAny: see above
  const authors = 'author' as any;
  const failure = async (work: Promise<unknown>): Promise<Loose> => {
    const error = await work.then(
      () => expect.fail('it was expected to fail'),
      (reason: unknown) => reason as Loose,
    );
    expect(isDirectusError(error), String(error)).to.equal(true);
    return { status: error.response.status, code: error.errors[0].extensions.code, message: error.errors[0].message };
  };

  describe('schema', () => {
    it('makes collections, fields and relations', async () => {
      const author = await request(
        createCollection({ collection: 'author', schema: {}, meta: { icon: 'person' }, fields: [{ field: 'name', type: 'string' }] } as Loose),
      );
      expect([author.collection, author.meta.icon]).to.deep.equal(['author', 'person']);
      await request(
        createCollection({
          collection: 'article',
          schema: {},
          fields: [
            { field: 'title', type: 'string', schema: { is_nullable: false } },
            { field: 'status', type: 'string', schema: { default_value: 'draft' } },
            { field: 'author', type: 'integer' },
            { field: 'views', type: 'integer', schema: { default_value: 0 } },
          ],
        } as Loose),
      );
      const alias = await request(createField(authors, { field: 'articles', type: 'alias', meta: { special: ['o2m'] } } as Loose));
      expect(alias).to.deep.include({ type: 'alias', schema: null });
      const relation = await request(
        createRelation({ collection: 'article', field: 'author', related_collection: 'author', meta: { one_field: 'articles' } } as Loose),
      );
      expect(relation.meta.one_field).to.equal('articles');
      expect(relation.schema.on_delete).to.equal('SET NULL');
      await request(createCollection({ collection: 'site', schema: {}, meta: { singleton: true }, fields: [{ field: 'name', type: 'string' }] } as Loose));
    });

    it('reads and changes them', async () => {
      const names = (await request(readCollections())).map((one: Loose) => one.collection);
      expect(names).to.include.members(['author', 'article', 'site', 'platform_users']);
      expect((await request(readCollection(articles))).schema.name).to.equal('article');
      expect((await request(updateCollection(articles, { meta: { note: 'n' } } as Loose))).meta.note).to.equal('n');
      const batch = await request(updateCollectionsBatch([{ collection: 'article', meta: { sort: 2 } }, { collection: 'author', meta: { sort: 1 } }] as Loose));
      expect(batch.map((one: Loose) => one.meta.sort)).to.deep.equal([2, 1]);
      expect((await request(readFields())).length).to.be.greaterThan(20);
      expect((await request(readFieldsByCollection(articles))).map((one: Loose) => one.field)).to.deep.equal(['id', 'title', 'status', 'author', 'views']);
      expect((await request(readField(articles, 'title' as Loose))).schema.is_nullable).to.equal(false);
      expect((await request(updateField(articles, 'title' as Loose, { meta: { note: 't' } } as Loose))).meta.note).to.equal('t');
      const fields = await request(updateFields(articles, [{ field: 'title', meta: { sort: 5 } }, { field: 'views', meta: { sort: 6 } }] as Loose));
      expect(fields.map((one: Loose) => one.meta.sort)).to.deep.equal([5, 6]);
      expect((await request(readRelations())).some((one: Loose) => one.collection === 'article')).to.equal(true);
      expect((await request(readRelationByCollection(articles))).map((one: Loose) => one.field)).to.deep.equal(['author']);
      expect((await request(readRelation(articles, 'author' as Loose))).related_collection).to.equal('author');
      const relation = await request(updateRelation(articles, 'author' as Loose, { meta: { one_deselect_action: 'nullify' } } as Loose));
      expect(relation.meta.one_field).to.equal('articles');
    });

    it('deletes them', async () => {
      await request(createCollection({ collection: 'short_lived', schema: {}, fields: [{ field: 'a', type: 'integer' }] } as Loose));
      await request(createRelation({ collection: 'short_lived', field: 'a', related_collection: 'author' } as Loose));
      expect(await request(deleteRelation('short_lived' as Loose, 'a' as Loose))).to.equal(null);
      expect(await request(deleteField('short_lived' as Loose, 'a' as Loose))).to.equal(null);
      expect(await request(deleteCollection('short_lived' as Loose))).to.equal(null);
      expect(await failure(request(readCollection('short_lived' as Loose)))).to.include({ status: 403, code: 'FORBIDDEN' });
    });
  });

  describe('items', () => {
    before(async () => {
      await request(createItem(authors, { name: 'Ann' } as Loose));
      await request(createItem(authors, { name: 'Bob' } as Loose));
    });
    beforeEach(() => service.database.query('truncate article restart identity'));

    it('creates one and many, read back through the query', async () => {
      expect(await request(createItem(articles, { title: 'a', author: 1 } as Loose))).to.deep.equal({ id: 1, title: 'a', status: 'draft', author: 1, views: 0 });
      const nested = await request(createItem(articles, { title: 'b', author: { name: 'Cy' } } as Loose, { fields: ['title', { author: ['name'] }] } as Loose));
      expect(nested).to.deep.equal({ title: 'b', author: { name: 'Cy' } });
      const many = await request(createItems(articles, [{ title: 'c' }, { title: 'd' }] as Loose, { fields: ['id'] } as Loose));
      expect(many).to.deep.equal([{ id: 3 }, { id: 4 }]);
    });

    describe('read', () => {
      beforeEach(() =>
        request(
          createItems(articles, [
            { title: 'one', author: 1, views: 5, status: 'live' },
            { title: 'two', author: 1, views: 7 },
            { title: 'three', author: 2, views: 9, status: 'live' },
            { title: '100%', views: 1 },
          ] as Loose),
        ),
      );

      for (const [what, query, expected] of [
        ['fields', { fields: ['id', 'title'], limit: 1 }, [{ id: 1, title: 'one' }]],
        ['nested fields', { fields: ['title', { author: ['name', { articles: ['id'] }] }], limit: 1 }, [{ title: 'one', author: { name: 'Ann', articles: [{ id: 1 }, { id: 2 }] } }]],
        ['wildcards', { fields: ['*', { author: ['*'] }], filter: { id: { _eq: 3 } } }, [{ id: 3, title: 'three', status: 'live', views: 9, author: { id: 2, name: 'Bob', articles: [3] } }]],
        ['sort', { fields: ['id'], sort: ['-views', 'id'] }, [{ id: 3 }, { id: 2 }, { id: 1 }, { id: 4 }]],
        ['sort as text', { fields: ['id'], sort: '-id', limit: 2 }, [{ id: 4 }, { id: 3 }]],
        ['filter', { fields: ['id'], filter: { _or: [{ views: { _gt: 8 } }, { title: { _contains: '100%' } }] } }, [{ id: 3 }, { id: 4 }]],
        ['filter by relation', { fields: ['id'], filter: { author: { name: { _eq: 'Ann' } }, views: { _in: [5, 9] } } }, [{ id: 1 }]],
        ['filter null', { fields: ['id'], filter: { author: { _null: true } } }, [{ id: 4 }]],
        ['filter between', { fields: ['id'], filter: { views: { _between: [6, 9] } } }, [{ id: 2 }, { id: 3 }]],
        ['limit and offset', { fields: ['id'], limit: 2, offset: 1 }, [{ id: 2 }, { id: 3 }]],
        ['page', { fields: ['id'], limit: 3, page: 2 }, [{ id: 4 }]],
        ['all', { fields: ['id'], limit: -1 }, [{ id: 1 }, { id: 2 }, { id: 3 }, { id: 4 }]],
        ['search', { fields: ['id'], search: 'thr' }, [{ id: 3 }]],
      ] as const) {
        it(`by ${what}, as GET and as SEARCH`, async () => {
          expect(await request(readItems(articles, query as Loose))).to.deep.equal(expected);
          expect(await request(withSearch(readItems(articles, query as Loose) as Loose))).to.deep.equal(expected);
        });
      }

      it('one', async () => {
        expect(await request(readItem(articles, 2, { fields: ['title', { author: ['name'] }] } as Loose))).to.deep.equal({ title: 'two', author: { name: 'Ann' } });
        expect(await failure(request(readItem(articles, 99)))).to.include({ status: 403, code: 'FORBIDDEN' });
        expect(await failure(request(readItem(articles, 'x')))).to.include({ status: 403, code: 'FORBIDDEN' });
      });
    });

    it('updates by key, keys, query and rows', async () => {
      await request(createItems(articles, [{ title: 'a' }, { title: 'b' }, { title: 'c' }] as Loose));
      expect(await request(updateItem(articles, 1, { title: 'A' } as Loose, { fields: ['title'] } as Loose))).to.deep.equal({ title: 'A' });
      expect(await request(updateItems(articles, [2, 3], { status: 'x' } as Loose, { fields: ['id', 'status'] } as Loose))).to.deep.equal([{ id: 2, status: 'x' }, { id: 3, status: 'x' }]);
      expect(await request(updateItems(articles, { filter: { status: { _eq: 'x' } } } as Loose, { views: 3 } as Loose, { fields: ['views'] } as Loose))).to.deep.equal([{ views: 3 }, { views: 3 }]);
      expect(await request(updateItemsBatch(articles, [{ id: 1, title: '1' }, { id: 2, title: '2' }] as Loose, { fields: ['title'] } as Loose))).to.deep.equal([{ title: '1' }, { title: '2' }]);
    });

    it('deletes by key, keys and query', async () => {
      await request(createItems(articles, [{ title: 'a' }, { title: 'b' }, { title: 'c' }, { title: 'd', status: 'x' }] as Loose));
      expect(await request(deleteItem(articles, 1))).to.equal(null);
      expect(await request(deleteItems(articles, [2]))).to.equal(null);
      expect(await request(deleteItems(articles, { filter: { status: { _eq: 'x' } } } as Loose))).to.equal(null);
      expect(await request(readItems(articles, { fields: ['id'] } as Loose))).to.deep.equal([{ id: 3 }]);
    });

    it('singletons', async () => {
      const site = 'site' as Loose;
      expect(await request(readSingleton(site))).to.deep.equal({ id: null, name: null });
      expect(await request(updateSingleton(site, { name: 'x' } as Loose))).to.deep.equal({ id: 1, name: 'x' });
      expect(await request(updateSingleton(site, { name: 'y' } as Loose, { fields: ['name'] } as Loose))).to.deep.equal({ name: 'y' });
      expect(await request(readSingleton(site, { fields: ['name'] } as Loose))).to.deep.equal({ name: 'y' });
    });

    it('errors are recognised, with code, status and message', async () => {
      expect(await failure(request(readItems('nowhere' as Loose)))).to.deep.include({ status: 403, code: 'FORBIDDEN' });
      expect(await failure(request(readItems('platform_users' as Loose)))).to.deep.include({ status: 403, code: 'FORBIDDEN' });
      expect(await failure(request(aggregate('platform_users' as Loose, { aggregate: { count: '*' } } as Loose)))).to.deep.include({ status: 403, code: 'FORBIDDEN' });
      expect(await failure(request(createItem(articles, {} as Loose)))).to.deep.include({ status: 400, code: 'FAILED_VALIDATION' });
      expect(await failure(request(readItems(articles, { filter: { title: { _nonsense: 1 } } } as Loose)))).to.deep.include({ status: 400, code: 'INVALID_QUERY' });
      expect(await failure(request(createItem(articles, { title: 'a', author: 99 } as Loose)))).to.deep.include({ status: 400, code: 'INVALID_FOREIGN_KEY' });
      expect((await failure(request(withToken('not-a-token', readItems(articles) as Loose)))).status).to.be.oneOf([401, 403]);
      expect(await failure(request(() => ({ method: 'POST', path: '/nothing/here', body: '{}' })))).to.deep.include({ status: 404, code: 'ROUTE_NOT_FOUND' });
    });
  });

  describe('people', () => {
    it('roles and permissions', async () => {
      const role = await request(createRole({ name: 'Editor', app_access: true } as Loose));
      expect((await request(readRole(role.id, { fields: ['name'] } as Loose)))).to.deep.equal({ name: 'Editor' });
      expect((await request(updateRole(role.id, { description: 'd' } as Loose))).description).to.equal('d');
      expect((await request(updateRoles([role.id], { icon: 'x' } as Loose, { fields: ['icon'] } as Loose)))).to.deep.equal([{ icon: 'x' }]);
      expect(await request(readRoles({ filter: { name: { _eq: 'Editor' } }, fields: ['id'] } as Loose))).to.deep.equal([{ id: role.id }]);
      const permission = await request(createPermission({ role: role.id, collection: 'article', action: 'read', fields: ['*'], permissions: { status: { _eq: 'live' } } } as Loose));
      expect(permission).to.deep.include({ collection: 'article', fields: ['*'], permissions: { status: { _eq: 'live' } } });
      expect((await request(updatePermission(permission.id, { fields: ['id', 'title'] } as Loose))).fields).to.deep.equal(['id', 'title']);
      expect((await request(updatePermissions([permission.id], { permissions: {} } as Loose)))[0].permissions).to.deep.equal({});
      const list = await request(readPermissions({ filter: { role: { _eq: role.id }, collection: { _eq: 'article' } } } as Loose));
      expect(list.filter((one: Loose) => !one.system).map((one: Loose) => one.id)).to.deep.equal([permission.id]);
      expect(await request(deletePermissions([permission.id]))).to.equal(null);
      const another = await request(createPermission({ role: role.id, collection: 'article', action: 'read' } as Loose));
      expect(await request(deletePermission(another.id))).to.equal(null);
      expect(await request(deleteRole(role.id))).to.equal(null);
      expect(await failure(request(readRole(role.id)))).to.include({ status: 403 });
    });

    it('users', async () => {
      const user = await request(createUser({ email: 'u1@example.com', password: 'a long password', first_name: 'U' } as Loose));
      expect([user.email, user.password]).to.deep.equal(['u1@example.com', '**********']);
      const two = await request(createUsers([{ email: 'u2@example.com' }, { email: 'u3@example.com' }] as Loose, { fields: ['id'] } as Loose));
      expect(two).to.have.length(2);
      expect(await request(readUser(user.id, { fields: ['first_name'] } as Loose))).to.deep.equal({ first_name: 'U' });
      expect(await request(readUsers({ filter: { email: { _starts_with: 'u' } }, sort: ['email'], fields: ['email'] } as Loose))).to.deep.equal([
        { email: 'u1@example.com' }, { email: 'u2@example.com' }, { email: 'u3@example.com' },
      ]);
      expect((await request(updateUser(user.id, { last_name: 'L' } as Loose))).last_name).to.equal('L');
      const ids = two.map((one: Loose) => one.id);
      expect(await request(updateUsers(ids, { title: 't' } as Loose, { fields: ['title'] } as Loose))).to.deep.equal([{ title: 't' }, { title: 't' }]);
      expect(await request(updateUsersBatch([{ id: ids[0], title: 'x' }] as Loose, { fields: ['title'] } as Loose))).to.deep.equal([{ title: 'x' }]);
      expect(await request(deleteUsers(ids))).to.equal(null);
      expect(await request(deleteUser(user.id))).to.equal(null);
      expect((await failure(request(createUser({ email: 'ADMIN@example.com' } as Loose)))).code).to.equal('RECORD_NOT_UNIQUE');
    });

    it('oneself', async () => {
      expect(await request(readMe({ fields: ['email', { role: ['name', 'admin_access'] }] } as Loose))).to.deep.equal({
        email: service.admin.email,
        role: { name: 'Administrator', admin_access: true },
      });
      expect(await request(updateMe({ first_name: 'Me' } as Loose, { fields: ['first_name'] } as Loose))).to.deep.equal({ first_name: 'Me' });
    });
  });

  describe('server', () => {
    it('ping, health, info, providers', async () => {
      expect(await request(serverPing())).to.equal('pong');
      expect((await request(serverHealth())).status).to.equal('ok');
      expect(await request(serverInfo())).to.have.property('project');
      expect(await request(readProviders())).to.deep.equal([]);
    });

    it('answers 404 to what is not built yet, as an error the client knows', async () => {
      expect(await failure(request(clearCache()))).to.include({ status: 404, code: 'ROUTE_NOT_FOUND' });
    });
  });

  describe('authentication', () => {
    const credentials = () => ({ email: service.admin.email, password: service.admin.password });

    it('json: login, requests, refresh, logout', async () => {
      const client = createDirectus<Loose>(service.url).with(authentication('json', { autoRefresh: false })).with(rest());
      expect(await failure(client.request(readMe()))).to.include({ status: 401, code: 'INVALID_CREDENTIALS' });
      const first = await client.login(credentials());
      expect(first).to.include.keys('access_token', 'refresh_token', 'expires');
      expect(first.expires).to.equal(15 * 60 * 1000);
      expect(await client.getToken()).to.equal(first.access_token);
      expect(await client.request(readMe({ fields: ['email'] }))).to.deep.equal({ email: service.admin.email });
      const second = await client.refresh();
      expect(second.refresh_token).not.to.equal(first.refresh_token);
      expect(await client.request(readMe({ fields: ['email'] }))).to.deep.equal({ email: service.admin.email });
      const old = await service.request('POST', '/auth/refresh', { body: { refresh_token: first.refresh_token, mode: 'json' } });
      expect([old.status, old.body.errors[0].extensions.code]).to.deep.equal([401, 'INVALID_CREDENTIALS']);
      await client.logout();
      expect(await client.getToken()).to.equal(null);
      const gone = await service.request('POST', '/auth/refresh', { body: { refresh_token: second.refresh_token, mode: 'json' } });
      expect(gone.status).to.equal(401);
    });

    it('json: refreshes by itself when the token is about to end', async () => {
      const client = createDirectus<Loose>(service.url)
        .with(authentication('json', { autoRefresh: true, msRefreshBeforeExpires: 15 * 60 * 1000 + 1000 }))
        .with(rest());
      const first = await client.login(credentials());
      expect(await client.request(readMe({ fields: ['email'] }))).to.deep.equal({ email: service.admin.email });
      expect((await client.getToken()) !== null).to.equal(true);
      await client.logout();
      expect(first.refresh_token).to.be.a('string');
    });

    it('a wrong password is an error', async () => {
      const client = createDirectus<Loose>(service.url).with(authentication('json')).with(rest());
      expect(await failure(client.login({ ...credentials(), password: 'wrong' }))).to.include({ status: 401, code: 'INVALID_CREDENTIALS' });
      expect(await failure(client.login({ email: '', password: '' } as Loose))).to.include({ status: 401 });
    });

    it('cookie: the refresh token never reaches the client', async () => {
      let jar = '';
      // What a browser does with `credentials: include`.
      const fetchWithCookies: typeof fetch = async (input, init) => {
        const headers = new Headers(init?.headers);
        if (jar) headers.set('cookie', jar);
        const response = await fetch(input, { ...init, headers });
        for (const line of response.headers.getSetCookie()) {
          const [pair = ''] = line.split(';');
          expect(line).to.match(/httponly/i);
          jar = pair.endsWith('=') ? '' : pair;
        }
        return response;
      };
      const client = createDirectus<Loose>(service.url, { globals: { fetch: fetchWithCookies } as Loose })
        .with(authentication('cookie', { credentials: 'include', autoRefresh: false }))
        .with(rest({ credentials: 'include' }));
      const first = await client.login(credentials());
      expect(first.refresh_token ?? null).to.equal(null);
      expect(jar).to.match(/^service_refresh_token=./);
      const before = jar;
      expect(await client.request(withOptions(readMe({ fields: ['email'] }), { credentials: 'include' }))).to.deep.equal({ email: service.admin.email });
      const second = await client.refresh();
      expect(second.access_token).to.be.a('string');
      expect(jar).not.to.equal(before);
      await client.logout();
      expect(jar).to.equal('');
      expect((await failure(client.refresh())).status).to.be.oneOf([400, 401]);
    });

    it('session mode is refused with a reason', async () => {
      const client = createDirectus<Loose>(service.url).with(authentication('session')).with(rest());
      expect(await failure(client.login(credentials()))).to.include({ status: 400, code: 'INVALID_PAYLOAD' });
    });

    it('a static token', async () => {
      const user = await request(createUser({ email: 'static@example.com', token: 'a-static-token' } as Loose));
      const client = createDirectus<Loose>(service.url).with(staticToken('a-static-token')).with(rest());
      expect(await client.request(readMe())).to.deep.equal({ id: user.id });
    });
  });
});
