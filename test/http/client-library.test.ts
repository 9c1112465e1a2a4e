import { expect } from 'chai';
import { codeOf, forgetUsedSteps } from '../plugins/two-factor/two-factor-users.ts';
import { clientLibrary, createAdminClient, expectClientError, type Untyped } from '../support/client-library.ts';
import { type InProcessService, startService } from '../support/service.ts';

/** Uses an unmodified release of @directus/sdk, so that the tests cannot choose what the client sends and expects. */
describe('a published client library', () => {
  let service: InProcessService;
  let request: (command: Untyped) => Promise<Untyped>;
  before(async () => {
    service = await startService({ env: { ACCESS_TOKEN_TTL: '15m' } });
    request = createAdminClient(service);
  });
  after(() => service?.stop());

  describe('schema', () => {
    it('creates collections, fields and relations', async () => {
      const author = await request(
        clientLibrary.createCollection({
          collection: 'author',
          schema: {},
          meta: { icon: 'person' },
          fields: [{ field: 'name', type: 'string' }],
        }),
      );
      expect([author.collection, author.meta.icon]).to.deep.equal(['author', 'person']);
      await request(
        clientLibrary.createCollection({
          collection: 'article',
          schema: {},
          fields: [
            { field: 'title', type: 'string', schema: { is_nullable: false } },
            { field: 'status', type: 'string', schema: { default_value: 'draft' } },
            { field: 'author', type: 'integer' },
            { field: 'views', type: 'integer', schema: { default_value: 0 } },
          ],
        }),
      );
      const alias = await request(
        clientLibrary.createField('author', { field: 'articles', type: 'alias', meta: { special: ['o2m'] } }),
      );
      expect(alias).to.deep.include({ type: 'alias', schema: null });
      const relation = await request(
        clientLibrary.createRelation({
          collection: 'article',
          field: 'author',
          related_collection: 'author',
          meta: { one_field: 'articles' },
        }),
      );
      expect(relation.meta.one_field).to.equal('articles');
      expect(relation.schema.on_delete).to.equal('SET NULL');
      await request(
        clientLibrary.createCollection({
          collection: 'site',
          schema: {},
          meta: { singleton: true },
          fields: [{ field: 'name', type: 'string', schema: { default_value: 'Untitled' } }],
        }),
      );
    });

    it('reads and updates collections, fields and relations', async () => {
      const names = (await request(clientLibrary.readCollections())).map((one: Untyped) => one.collection);
      expect(names).to.include.members(['author', 'article', 'site', 'platform_users']);
      expect((await request(clientLibrary.readCollection('article'))).schema.name).to.equal('article');
      expect((await request(clientLibrary.updateCollection('article', { meta: { note: 'n' } }))).meta.note).to.equal(
        'n',
      );
      const batch = await request(
        clientLibrary.updateCollectionsBatch([
          { collection: 'article', meta: { sort: 2 } },
          { collection: 'author', meta: { sort: 1 } },
        ]),
      );
      expect(batch.map((one: Untyped) => one.meta.sort)).to.deep.equal([2, 1]);
      expect((await request(clientLibrary.readFields())).length).to.be.greaterThan(20);
      expect(
        (await request(clientLibrary.readFieldsByCollection('article'))).map((one: Untyped) => one.field),
      ).to.deep.equal(['id', 'title', 'status', 'author', 'views']);
      expect((await request(clientLibrary.readField('article', 'title'))).schema.is_nullable).to.equal(false);
      expect(
        (await request(clientLibrary.updateField('article', 'title', { meta: { note: 't' } }))).meta.note,
      ).to.equal('t');
      const fields = await request(
        clientLibrary.updateFields('article', [
          { field: 'title', meta: { sort: 5 } },
          { field: 'views', meta: { sort: 6 } },
        ]),
      );
      expect(fields.map((one: Untyped) => one.meta.sort)).to.deep.equal([5, 6]);
      expect(
        (await request(clientLibrary.readRelations())).some((one: Untyped) => one.collection === 'article'),
      ).to.equal(true);
      expect(
        (await request(clientLibrary.readRelationByCollection('article'))).map((one: Untyped) => one.field),
      ).to.deep.equal(['author']);
      expect((await request(clientLibrary.readRelation('article', 'author'))).related_collection).to.equal('author');
      const relation = await request(
        clientLibrary.updateRelation('article', 'author', { meta: { one_deselect_action: 'nullify' } }),
      );
      expect(relation.meta.one_field).to.equal('articles');
    });

    it('deletes fields, relations and collections', async () => {
      await request(
        clientLibrary.createCollection({
          collection: 'short_lived',
          schema: {},
          fields: [{ field: 'a', type: 'integer' }],
        }),
      );
      await request(
        clientLibrary.createRelation({ collection: 'short_lived', field: 'a', related_collection: 'author' }),
      );
      expect(await request(clientLibrary.deleteRelation('short_lived', 'a'))).to.equal(null);
      expect(await request(clientLibrary.deleteField('short_lived', 'a'))).to.equal(null);
      expect(await request(clientLibrary.deleteCollection('short_lived'))).to.equal(null);
      expect(await expectClientError(request(clientLibrary.readCollection('short_lived')))).to.include({
        status: 404,
        code: 'ROUTE_NOT_FOUND',
      });
    });
  });

  describe('items', () => {
    before(async () => {
      await request(clientLibrary.createItem('author', { name: 'Ann' }));
      await request(clientLibrary.createItem('author', { name: 'Bob' }));
    });
    beforeEach(() => service.database.query('truncate article restart identity'));

    it('creates one item and many, and answers the fields the query asks for', async () => {
      expect(await request(clientLibrary.createItem('article', { title: 'a', author: 1 }))).to.deep.equal({
        id: 1,
        title: 'a',
        status: 'draft',
        author: 1,
        views: 0,
      });
      const nested = await request(
        clientLibrary.createItem(
          'article',
          { title: 'b', author: { name: 'Cy' } },
          { fields: ['title', { author: ['name'] }] },
        ),
      );
      expect(nested).to.deep.equal({ title: 'b', author: { name: 'Cy' } });
      const many = await request(
        clientLibrary.createItems('article', [{ title: 'c' }, { title: 'd' }], { fields: ['id'] }),
      );
      expect(many).to.deep.equal([{ id: 3 }, { id: 4 }]);
    });

    describe('readItems', () => {
      beforeEach(() =>
        request(
          clientLibrary.createItems('article', [
            { title: 'one', author: 1, views: 5, status: 'live' },
            { title: 'two', author: 1, views: 7 },
            { title: 'three', author: 2, views: 9, status: 'live' },
            { title: '100%', views: 1 },
          ]),
        ),
      );

      for (const [what, query, expected] of [
        ['fields', { fields: ['id', 'title'], limit: 1 }, [{ id: 1, title: 'one' }]],
        [
          'nested fields',
          { fields: ['title', { author: ['name', { articles: ['id'] }] }], limit: 1 },
          [{ title: 'one', author: { name: 'Ann', articles: [{ id: 1 }, { id: 2 }] } }],
        ],
        [
          'wildcards',
          { fields: ['*', { author: ['*'] }], filter: { id: { _eq: 3 } } },
          [{ id: 3, title: 'three', status: 'live', views: 9, author: { id: 2, name: 'Bob', articles: [3] } }],
        ],
        ['sort', { fields: ['id'], sort: ['-views', 'id'] }, [{ id: 3 }, { id: 2 }, { id: 1 }, { id: 4 }]],
        ['sort as text', { fields: ['id'], sort: '-id', limit: 2 }, [{ id: 4 }, { id: 3 }]],
        [
          'filter',
          { fields: ['id'], filter: { _or: [{ views: { _gt: 8 } }, { title: { _contains: '100%' } }] } },
          [{ id: 3 }, { id: 4 }],
        ],
        [
          'filter by relation',
          { fields: ['id'], filter: { author: { name: { _eq: 'Ann' } }, views: { _in: [5, 9] } } },
          [{ id: 1 }],
        ],
        ['filter null', { fields: ['id'], filter: { author: { _null: true } } }, [{ id: 4 }]],
        ['filter between', { fields: ['id'], filter: { views: { _between: [6, 9] } } }, [{ id: 2 }, { id: 3 }]],
        ['limit and offset', { fields: ['id'], limit: 2, offset: 1 }, [{ id: 2 }, { id: 3 }]],
        ['page', { fields: ['id'], limit: 3, page: 2 }, [{ id: 4 }]],
        ['all', { fields: ['id'], limit: -1 }, [{ id: 1 }, { id: 2 }, { id: 3 }, { id: 4 }]],
        ['search', { fields: ['id'], search: 'thr' }, [{ id: 3 }]],
      ] as const) {
        it(`answers the same to GET and SEARCH: ${what}`, async () => {
          expect(await request(clientLibrary.readItems('article', query))).to.deep.equal(expected);
          expect(await request(clientLibrary.withSearch(clientLibrary.readItems('article', query)))).to.deep.equal(
            expected,
          );
        });
      }

      it('answers deep, alias and functions', async () => {
        const query = {
          fields: ['name', 'count(articles)', { articles: ['title'], best: ['title', 'views'] }],
          alias: { best: 'articles' },
          deep: {
            articles: { _filter: { views: { _gt: 4 } }, _sort: ['title'], _limit: 1, _page: 2 },
            best: { _sort: ['-views'], _limit: 1 },
          },
          filter: { 'count(articles)': { _gt: 1 } },
        };
        const expected = [
          { name: 'Ann', articles_count: 2, articles: [{ title: 'two' }], best: [{ title: 'two', views: 7 }] },
        ];
        expect(await request(clientLibrary.readItems('author', query))).to.deep.equal(expected);
        expect(await request(clientLibrary.withSearch(clientLibrary.readItems('author', query)))).to.deep.equal(
          expected,
        );
      });

      it('answers aggregates of all rows and of groups', async () => {
        const aggregate = (options: object) => request(clientLibrary.aggregate('article', options));
        expect(await aggregate({ aggregate: { count: '*' } })).to.deep.equal([{ count: 4 }]);
        expect(
          await aggregate({ aggregate: { count: ['author'], countDistinct: 'author', sum: ['views'], max: 'title' } }),
        ).to.deep.equal([
          { count: { author: 3 }, countDistinct: { author: 2 }, sum: { views: 22 }, max: { title: 'two' } },
        ]);
        expect(
          await aggregate({
            aggregate: { count: '*', avg: ['views'] },
            groupBy: ['status'],
            query: { filter: { author: { _nnull: true } }, sort: ['-status'], limit: -1 },
          }),
        ).to.deep.equal([
          { status: 'live', count: 2, avg: { views: 7 } },
          { status: 'draft', count: 1, avg: { views: 7 } },
        ]);
        expect(
          await aggregate({ aggregate: { sum: ['views'] }, query: { filter: { id: { _eq: 99 } } } }),
        ).to.deep.equal([{ sum: { views: null } }]);
      });

      it('answers one item by its key', async () => {
        expect(
          await request(clientLibrary.readItem('article', 2, { fields: ['title', { author: ['name'] }] })),
        ).to.deep.equal({
          title: 'two',
          author: { name: 'Ann' },
        });
        expect(await expectClientError(request(clientLibrary.readItem('article', 99)))).to.include({
          status: 403,
          code: 'FORBIDDEN',
        });
        expect(await expectClientError(request(clientLibrary.readItem('article', 'x')))).to.include({
          status: 403,
          code: 'FORBIDDEN',
        });
      });
    });

    it('updates items by key, keys, query and rows', async () => {
      await request(clientLibrary.createItems('article', [{ title: 'a' }, { title: 'b' }, { title: 'c' }]));
      expect(
        await request(clientLibrary.updateItem('article', 1, { title: 'A' }, { fields: ['title'] })),
      ).to.deep.equal({
        title: 'A',
      });
      expect(
        await request(clientLibrary.updateItems('article', [2, 3], { status: 'x' }, { fields: ['id', 'status'] })),
      ).to.deep.equal([
        { id: 2, status: 'x' },
        { id: 3, status: 'x' },
      ]);
      expect(
        await request(
          clientLibrary.updateItems(
            'article',
            { filter: { status: { _eq: 'x' } } },
            { views: 3 },
            { fields: ['views'] },
          ),
        ),
      ).to.deep.equal([{ views: 3 }, { views: 3 }]);
      expect(
        await request(
          clientLibrary.updateItemsBatch(
            'article',
            [
              { id: 1, title: '1' },
              { id: 2, title: '2' },
            ],
            { fields: ['title'] },
          ),
        ),
      ).to.deep.equal([{ title: '1' }, { title: '2' }]);
    });

    it('deletes items by key, keys and query', async () => {
      await request(
        clientLibrary.createItems('article', [
          { title: 'a' },
          { title: 'b' },
          { title: 'c' },
          { title: 'd', status: 'x' },
        ]),
      );
      expect(await request(clientLibrary.deleteItem('article', 1))).to.equal(null);
      expect(await request(clientLibrary.deleteItems('article', [2]))).to.equal(null);
      expect(await request(clientLibrary.deleteItems('article', { filter: { status: { _eq: 'x' } } }))).to.equal(null);
      expect(await request(clientLibrary.readItems('article', { fields: ['id'] }))).to.deep.equal([{ id: 3 }]);
    });

    it('reads and updates singletons', async () => {
      const site = 'site';
      expect(await request(clientLibrary.readSingleton(site))).to.deep.equal({ id: null, name: 'Untitled' });
      expect(await request(clientLibrary.updateSingleton(site, { name: 'x' }))).to.deep.equal({ id: 1, name: 'x' });
      expect(await request(clientLibrary.updateSingleton(site, { name: 'y' }, { fields: ['name'] }))).to.deep.equal({
        name: 'y',
      });
      expect(await request(clientLibrary.readSingleton(site, { fields: ['name'] }))).to.deep.equal({ name: 'y' });
    });

    it('recognises errors with code, status and message', async () => {
      expect(await expectClientError(request(clientLibrary.readItems('nowhere')))).to.deep.include({
        status: 404,
        code: 'ROUTE_NOT_FOUND',
      });
      expect(await expectClientError(request(clientLibrary.readItems('platform_users')))).to.deep.include({
        status: 403,
        code: 'FORBIDDEN',
      });
      expect(
        await expectClientError(request(clientLibrary.aggregate('platform_users', { aggregate: { count: '*' } }))),
      ).to.deep.include({
        status: 403,
        code: 'FORBIDDEN',
      });
      expect(await expectClientError(request(clientLibrary.createItem('article', {})))).to.deep.include({
        status: 400,
        code: 'FAILED_VALIDATION',
      });
      expect(
        await expectClientError(request(clientLibrary.readItems('article', { filter: { title: { _nonsense: 1 } } }))),
      ).to.deep.include({ status: 400, code: 'INVALID_QUERY' });
      expect(
        await expectClientError(request(clientLibrary.createItem('article', { title: 'a', author: 99 }))),
      ).to.deep.include({
        status: 400,
        code: 'INVALID_FOREIGN_KEY',
      });
      expect(
        (await expectClientError(request(clientLibrary.withToken('not-a-token', clientLibrary.readItems('article')))))
          .status,
      ).to.be.oneOf([401, 403]);
      expect(
        await expectClientError(request(() => ({ method: 'POST', path: '/nothing/here', body: '{}' }))),
      ).to.deep.include({
        status: 404,
        code: 'ROUTE_NOT_FOUND',
      });
    });
  });

  describe('users, roles and permissions', () => {
    it('creates roles with permissions, which hold for their users', async () => {
      const role = await request(clientLibrary.createRole({ name: 'Editor', app_access: true }));
      expect(await request(clientLibrary.readRole(role.id, { fields: ['name'] }))).to.deep.equal({ name: 'Editor' });
      expect((await request(clientLibrary.updateRole(role.id, { description: 'd' }))).description).to.equal('d');
      expect(await request(clientLibrary.updateRoles([role.id], { icon: 'x' }, { fields: ['icon'] }))).to.deep.equal([
        { icon: 'x' },
      ]);
      expect(
        await request(clientLibrary.readRoles({ filter: { name: { _eq: 'Editor' } }, fields: ['id'] })),
      ).to.deep.equal([{ id: role.id }]);
      const permission = await request(
        clientLibrary.createPermission({
          role: role.id,
          collection: 'article',
          action: 'read',
          fields: ['*'],
          permissions: { status: { _eq: 'live' } },
        }),
      );
      expect(permission).to.deep.include({
        collection: 'article',
        fields: ['*'],
        permissions: { status: { _eq: 'live' } },
      });
      expect(
        (await request(clientLibrary.updatePermission(permission.id, { fields: ['id', 'title'] }))).fields,
      ).to.deep.equal(['id', 'title']);
      expect(
        (await request(clientLibrary.updatePermissions([permission.id], { permissions: {} })))[0].permissions,
      ).to.deep.equal({});
      const list = await request(
        clientLibrary.readPermissions({ filter: { role: { _eq: role.id }, collection: { _eq: 'article' } } }),
      );
      expect(list.filter((one: Untyped) => !one.system).map((one: Untyped) => one.id)).to.deep.equal([permission.id]);
      expect(await request(clientLibrary.deletePermissions([permission.id]))).to.equal(null);
      const another = await request(
        clientLibrary.createPermission({ role: role.id, collection: 'article', action: 'read' }),
      );
      expect(await request(clientLibrary.deletePermission(another.id))).to.equal(null);
      expect(await request(clientLibrary.deleteRole(role.id))).to.equal(null);
      expect(await expectClientError(request(clientLibrary.readRole(role.id)))).to.include({ status: 403 });
    });

    it('creates, reads, updates and deletes users', async () => {
      const user = await request(
        clientLibrary.createUser({ email: 'u1@example.com', password: 'a long password', first_name: 'U' }),
      );
      expect([user.email, user.password]).to.deep.equal(['u1@example.com', '**********']);
      const two = await request(
        clientLibrary.createUsers([{ email: 'u2@example.com' }, { email: 'u3@example.com' }], { fields: ['id'] }),
      );
      expect(two).to.have.length(2);
      expect(await request(clientLibrary.readUser(user.id, { fields: ['first_name'] }))).to.deep.equal({
        first_name: 'U',
      });
      expect(
        await request(
          clientLibrary.readUsers({ filter: { email: { _starts_with: 'u' } }, sort: ['email'], fields: ['email'] }),
        ),
      ).to.deep.equal([{ email: 'u1@example.com' }, { email: 'u2@example.com' }, { email: 'u3@example.com' }]);
      expect((await request(clientLibrary.updateUser(user.id, { last_name: 'L' }))).last_name).to.equal('L');
      const ids = two.map((one: Untyped) => one.id);
      expect(await request(clientLibrary.updateUsers(ids, { title: 't' }, { fields: ['title'] }))).to.deep.equal([
        { title: 't' },
        { title: 't' },
      ]);
      expect(
        await request(clientLibrary.updateUsersBatch([{ id: ids[0], title: 'x' }], { fields: ['title'] })),
      ).to.deep.equal([{ title: 'x' }]);
      expect(await request(clientLibrary.deleteUsers(ids))).to.equal(null);
      expect(await request(clientLibrary.deleteUser(user.id))).to.equal(null);
      expect(
        (await expectClientError(request(clientLibrary.createUser({ email: 'ADMIN@example.com' })))).code,
      ).to.equal('RECORD_NOT_UNIQUE');
    });

    it('reads and updates the own user', async () => {
      expect(
        await request(clientLibrary.readMe({ fields: ['email', { role: ['name', 'admin_access'] }] })),
      ).to.deep.equal({
        email: service.admin.email,
        role: { name: 'Administrator', admin_access: true },
      });
      expect(await request(clientLibrary.updateMe({ first_name: 'Me' }, { fields: ['first_name'] }))).to.deep.equal({
        first_name: 'Me',
      });
    });
  });

  describe('server', () => {
    it('reads ping, health, info and providers', async () => {
      expect(await request(clientLibrary.serverPing())).to.equal('pong');
      expect((await request(clientLibrary.serverHealth())).status).to.equal('ok');
      expect(await request(clientLibrary.serverInfo())).to.have.property('project');
      expect(await request(clientLibrary.readProviders())).to.deep.equal([]);
    });

    it('recognises the 404 of a route that does not exist', async () => {
      expect(await expectClientError(request(clientLibrary.readContentVersions()))).to.include({
        status: 404,
        code: 'ROUTE_NOT_FOUND',
      });
    });

    it('clears the caches', async () => {
      await request(clientLibrary.clearCache());
    });
  });

  describe('authentication', () => {
    const credentials = () => ({ email: service.admin.email, password: service.admin.password });

    it('mode json: logs in, sends requests, refreshes and logs out', async () => {
      const client = clientLibrary
        .createDirectus(service.url)
        .with(clientLibrary.authentication('json', { autoRefresh: false }))
        .with(clientLibrary.rest());
      expect(await expectClientError(client.request(clientLibrary.readMe()))).to.include({
        status: 401,
        code: 'INVALID_CREDENTIALS',
      });
      const first = await client.login(credentials());
      expect(first).to.include.keys('access_token', 'refresh_token', 'expires');
      expect(first.expires).to.equal(15 * 60 * 1000);
      expect(await client.getToken()).to.equal(first.access_token);
      expect(await client.request(clientLibrary.readMe({ fields: ['email'] }))).to.deep.equal({
        email: service.admin.email,
      });
      const second = await client.refresh();
      expect(second.refresh_token).not.to.equal(first.refresh_token);
      expect(await client.request(clientLibrary.readMe({ fields: ['email'] }))).to.deep.equal({
        email: service.admin.email,
      });
      const old = await service.request('POST', '/auth/refresh', {
        body: { refresh_token: first.refresh_token, mode: 'json' },
      });
      expect([old.status, old.body.errors[0].extensions.code]).to.deep.equal([401, 'INVALID_CREDENTIALS']);
      await client.logout();
      expect(await client.getToken()).to.equal(null);
      const gone = await service.request('POST', '/auth/refresh', {
        body: { refresh_token: second.refresh_token, mode: 'json' },
      });
      expect(gone.status).to.equal(401);
    });

    it('mode json: the client refreshes a token that is about to expire', async () => {
      const client = clientLibrary
        .createDirectus(service.url)
        .with(
          clientLibrary.authentication('json', { autoRefresh: true, msRefreshBeforeExpires: 15 * 60 * 1000 + 1000 }),
        )
        .with(clientLibrary.rest());
      const first = await client.login(credentials());
      expect(await client.request(clientLibrary.readMe({ fields: ['email'] }))).to.deep.equal({
        email: service.admin.email,
      });
      expect((await client.getToken()) !== null).to.equal(true);
      await client.logout();
      expect(first.refresh_token).to.be.a('string');
    });

    it('a wrong password is an INVALID_CREDENTIALS error of the client', async () => {
      const client = clientLibrary
        .createDirectus(service.url)
        .with(clientLibrary.authentication('json'))
        .with(clientLibrary.rest());
      expect(await expectClientError(client.login({ ...credentials(), password: 'wrong' }))).to.include({
        status: 401,
        code: 'INVALID_CREDENTIALS',
      });
      expect(await expectClientError(client.login({ email: '', password: '' }))).to.include({ status: 401 });
    });

    it('turns two-factor sign-in on, logs in with a code, and turns it off', async () => {
      const client = clientLibrary
        .createDirectus(service.url)
        .with(clientLibrary.authentication('json', { autoRefresh: false }))
        .with(clientLibrary.rest());
      const login = (otp?: string) => client.login(credentials(), { otp });
      await login();
      const { secret, otpauth_url } = await client.request(
        clientLibrary.generateTwoFactorSecret(service.admin.password),
      );
      expect(otpauth_url).to.contain(secret);
      await client.request(clientLibrary.enableTwoFactor(secret, codeOf(secret)));
      await forgetUsedSteps(service.database);
      expect(await expectClientError(login())).to.include({ status: 401, code: 'INVALID_OTP' });
      expect(await login(codeOf(secret))).to.include.keys('access_token', 'refresh_token');
      await client.request(clientLibrary.disableTwoFactor(codeOf(secret, 1)));
      expect(await login()).to.include.keys('access_token');
    });

    it('mode cookie: the refresh token never reaches the client', async () => {
      let jar = '';
      // Sends and stores cookies as a browser does with `credentials: include`.
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
      const client = clientLibrary
        .createDirectus(service.url, { globals: { fetch: fetchWithCookies } })
        .with(clientLibrary.authentication('cookie', { credentials: 'include', autoRefresh: false }))
        .with(clientLibrary.rest({ credentials: 'include' }));
      const first = await client.login(credentials());
      expect(first.refresh_token ?? null).to.equal(null);
      expect(jar).to.match(/^service_refresh_token=./);
      const before = jar;
      expect(
        await client.request(
          clientLibrary.withOptions(clientLibrary.readMe({ fields: ['email'] }), { credentials: 'include' }),
        ),
      ).to.deep.equal({ email: service.admin.email });
      const second = await client.refresh();
      expect(second.access_token).to.be.a('string');
      expect(jar).not.to.equal(before);
      await client.logout();
      expect(jar).to.equal('');
      expect((await expectClientError(client.refresh())).status).to.be.oneOf([400, 401]);
    });

    it('mode session: is refused with a reason', async () => {
      const client = clientLibrary
        .createDirectus(service.url)
        .with(clientLibrary.authentication('session'))
        .with(clientLibrary.rest());
      expect(await expectClientError(client.login(credentials()))).to.include({ status: 400, code: 'INVALID_PAYLOAD' });
    });

    it('a static token authenticates requests', async () => {
      const user = await request(clientLibrary.createUser({ email: 'static@example.com', token: 'a-static-token' }));
      const client = clientLibrary
        .createDirectus(service.url)
        .with(clientLibrary.staticToken('a-static-token'))
        .with(clientLibrary.rest());
      expect(await client.request(clientLibrary.readMe())).to.deep.equal({ id: user.id });
    });
  });
});
