import { expect } from 'chai';
import { clientLibrary, expectClientError, type Untyped } from '../support/client-library.ts';
import { type InProcessService, startService } from '../support/service.ts';

const COMMANDS = 60;

/**
 * A published client library, unmodified: it signs in, and does by REST and GraphQL what an application does, one step
 * after the other.
 */
describe('a published client library, by REST and GraphQL', () => {
  let service: InProcessService;
  let client: Untyped;
  const used = new Set<string>();
  /** Sends the request that the SDK function of this name builds, such as `readItems`. */
  const run = (name: string, ...args: unknown[]): Promise<Untyped> => {
    used.add(name);
    return client.request(clientLibrary[name](...args));
  };
  const items = (text: string, variables?: object): Promise<Untyped> => client.query(text, variables);
  const system = (text: string, variables?: object): Promise<Untyped> => client.query(text, variables, 'system');

  const failure = async (work: Promise<unknown>) => {
    const { status, code } = await expectClientError(work);
    return { status, code };
  };

  before(async () => {
    service = await startService();
    client = clientLibrary
      .createDirectus(service.url)
      .with(clientLibrary.authentication('json'))
      .with(clientLibrary.rest())
      .with(clientLibrary.graphql());
  });
  after(() => service?.stop());

  it('signs in, and reads and updates the own user', async () => {
    expect(await failure(items('{ _empty }').then(() => run('readMe')))).to.include({ status: 401 });
    const { email, password } = service.admin;
    expect((await client.login({ email, password })).access_token).to.be.a('string');
    expect(await run('readMe', { fields: ['email'] })).to.deep.equal({ email });
    expect(await system('{ users_me { email role { name admin_access } } }')).to.deep.equal({
      users_me: { email, role: { name: 'Administrator', admin_access: true } },
    });
    expect(await run('updateMe', { first_name: 'Me' }, { fields: ['first_name'] })).to.deep.equal({ first_name: 'Me' });
    expect(
      await system('mutation ($data: update_platform_users_input!) { update_users_me(data: $data) { first_name } }', {
        data: { first_name: 'I' },
      }),
    ).to.deep.equal({ update_users_me: { first_name: 'I' } });
  });

  it('reads ping, info and health of the server', async () => {
    expect(await run('serverPing')).to.equal('pong');
    expect(await run('serverHealth')).to.have.property('status', 'ok');
    expect(await run('serverInfo')).to.have.property('project');
    expect(await run('readProviders')).to.deep.equal([]);
    expect(await run('readExtensions')).to.deep.equal([]);
    expect(await system('{ server_ping server_info { project { project_name } } }')).to.have.property(
      'server_ping',
      'pong',
    );
  });

  it('creates collections, fields and relations', async () => {
    await run('createCollection', {
      collection: 'author',
      schema: {},
      fields: [{ field: 'name', type: 'string', schema: { is_nullable: false } }],
    });
    await run('createCollection', {
      collection: 'article',
      schema: {},
      fields: [
        { field: 'title', type: 'string' },
        { field: 'status', type: 'string', schema: { default_value: 'draft' } },
        { field: 'price', type: 'decimal' },
        { field: 'views', type: 'integer' },
        { field: 'published', type: 'timestamp' },
        { field: 'author', type: 'integer' },
      ],
    });
    await run('createCollection', {
      collection: 'site',
      schema: {},
      meta: { singleton: true },
      fields: [{ field: 'name', type: 'string' }],
    });
    await run('createField', 'author', { field: 'articles', type: 'alias', meta: { special: ['o2m'] } });
    await run('createRelation', {
      collection: 'article',
      field: 'author',
      related_collection: 'author',
      meta: { one_field: 'articles' },
    });
    expect((await run('readCollections')).map((one: Untyped) => one.collection)).to.include.members([
      'author',
      'article',
    ]);
    expect((await run('readCollection', 'article')).schema.name).to.equal('article');
    expect((await run('updateCollection', 'article', { meta: { note: 'n' } })).meta.note).to.equal('n');
    await run('updateCollectionsBatch', [{ collection: 'article', meta: { sort: 2 } }]);
    expect((await run('readFields')).length).to.be.greaterThan(20);
    expect((await run('readFieldsByCollection', 'author')).map((one: Untyped) => one.field)).to.deep.equal([
      'id',
      'name',
      'articles',
    ]);
    expect((await run('readField', 'article', 'title')).type).to.equal('string');
    expect((await run('updateField', 'article', 'title', { meta: { note: 't' } })).meta.note).to.equal('t');
    await run('updateFields', 'article', [{ field: 'title', meta: { sort: 1 } }]);
    expect((await run('readRelations')).length).to.be.greaterThan(0);
    expect((await run('readRelationByCollection', 'article')).map((one: Untyped) => one.field)).to.deep.equal([
      'author',
    ]);
    expect((await run('readRelation', 'article', 'author')).related_collection).to.equal('author');
    await run('updateRelation', 'article', 'author', { meta: { one_deselect_action: 'nullify' } });
    const found = await system('{ collections_by_name(name: "article") { collection meta { note } } }');
    expect(found.collections_by_name).to.deep.equal({ collection: 'article', meta: { note: 'n' } });
    const fields = await system('query ($of: String!) { fields_in_collection(collection: $of) { field type } }', {
      of: 'author',
    });
    expect(fields.fields_in_collection).to.deep.equal([
      { field: 'id', type: 'integer' },
      { field: 'name', type: 'string' },
      { field: 'articles', type: 'alias' },
    ]);
  });

  it('reads the same rows by REST and by GraphQL', async () => {
    const ann = await run('createItem', 'author', { name: 'Ann' });
    await run('createItems', 'article', [
      { title: 'one', author: ann.id, views: 5, price: '9.90', published: '2024-05-01T10:00:00Z' },
      { title: 'two', author: ann.id, views: 7, status: 'live' },
    ]);
    expect(await run('readItems', 'article', { fields: ['id', 'title'], sort: ['-id'] })).to.deep.equal([
      { id: 2, title: 'two' },
      { id: 1, title: 'one' },
    ]);
    expect(await run('readItem', 'author', ann.id, { fields: ['name', { articles: ['id'] }] })).to.deep.equal({
      name: 'Ann',
      articles: [{ id: 1 }, { id: 2 }],
    });
    const list = `query ($filter: article_filter, $limit: Int) {
      article(filter: $filter, sort: ["-views"], limit: $limit) {
        ...shown
        author { name latest: articles(sort: ["-id"], limit: 1) { title } articles_func { count } }
      }
    }
    fragment shown on article { id heading: title price published published_func { year } }`;
    expect(await items(list, { filter: { views: { _gte: 5 } }, limit: 5 })).to.deep.equal({
      article: [
        {
          id: '2',
          heading: 'two',
          price: null,
          published: null,
          published_func: { year: null },
          author: { name: 'Ann', latest: [{ title: 'two' }], articles_func: { count: 2 } },
        },
        {
          id: '1',
          heading: 'one',
          price: 9.9,
          published: '2024-05-01T10:00:00.000Z',
          published_func: { year: 2024 },
          author: { name: 'Ann', latest: [{ title: 'two' }], articles_func: { count: 2 } },
        },
      ],
    });
    expect(await items('query ($id: ID!) { author_by_id(id: $id) { name } }', { id: ann.id })).to.deep.equal({
      author_by_id: { name: 'Ann' },
    });
  });

  it('aggregates rows by REST and by GraphQL', async () => {
    const options = { aggregate: { count: '*', sum: ['views'] }, groupBy: ['status'] };
    expect(await run('aggregate', 'article', options)).to.deep.equal([
      { status: 'draft', count: 1, sum: { views: 5 } },
      { status: 'live', count: 1, sum: { views: 7 } },
    ]);
    expect(
      await items(
        '{ article_aggregated(groupBy: ["status"]) { group countAll sum { views } max { price } count { price } } }',
      ),
    ).to.deep.equal({
      article_aggregated: [
        { group: { status: 'draft' }, countAll: 1, sum: { views: 5 }, max: { price: 9.9 }, count: { price: 1 } },
        { group: { status: 'live' }, countAll: 1, sum: { views: 7 }, max: { price: null }, count: { price: 0 } },
      ],
    });
  });

  it('creates, updates and deletes rows by REST and by GraphQL', async () => {
    expect(await run('updateItem', 'article', 1, { title: 'One' }, { fields: ['title'] })).to.deep.equal({
      title: 'One',
    });
    await run('updateItems', 'article', [1, 2], { status: 'live' });
    await run('updateItemsBatch', 'article', [{ id: 2, views: 8 }]);
    const created = await items(
      `mutation ($data: create_article_input!) {
        create_article_item(data: $data) { id title views author { id name } }
      }`,
      { data: { title: 'three', views: 1, author: { name: 'Bob' } } },
    );
    expect(created).to.deep.equal({
      create_article_item: { id: '3', title: 'three', views: 1, author: { id: '2', name: 'Bob' } },
    });
    expect(
      await items(
        `mutation {
          create_author_items(data: [{ name: "Cy", articles: [{ id: 3 }, { title: "four" }] }]) { articles { id } }
          update_article_item(id: 3, data: { views: 2 }) { views }
          update_article_items(ids: [1, 3], data: { status: "old" }) { id status }
          update_article_batch(data: [{ id: 1, title: "1" }, { id: 2, title: "2" }]) { title }
        }`,
      ),
    ).to.deep.equal({
      create_author_items: [{ articles: [{ id: '3' }, { id: '4' }] }],
      update_article_item: { views: 2 },
      update_article_items: [
        { id: '1', status: 'old' },
        { id: '3', status: 'old' },
      ],
      update_article_batch: [{ title: '1' }, { title: '2' }],
    });
    expect(
      await items('mutation { delete_article_item(id: 4) { id } delete_article_items(ids: [3]) { ids } }'),
    ).to.deep.equal({ delete_article_item: { id: '4' }, delete_article_items: { ids: ['3'] } });
    expect(await run('readItems', 'article', { fields: ['id'] })).to.deep.equal([{ id: 1 }, { id: 2 }]);
    expect(await run('updateSingleton', 'site', { name: 'x' }, { fields: ['name'] })).to.deep.equal({ name: 'x' });
    expect(await items('mutation { update_site(data: { name: "y" }) { name } }')).to.deep.equal({
      update_site: { name: 'y' },
    });
    expect(await run('readSingleton', 'site', { fields: ['name'] })).to.deep.equal({ name: 'y' });
    expect(await items('{ site { name } }')).to.deep.equal({ site: { name: 'y' } });
  });

  it('recognises errors of REST and GraphQL with their codes', async () => {
    expect(await failure(items('{ article { nothing } }'))).to.deep.equal({
      status: 400,
      code: 'GRAPHQL_VALIDATION_EXCEPTION',
    });
    expect(await failure(items('{ article {'))).to.deep.equal({ status: 400, code: 'INVALID_PAYLOAD' });
    expect(await failure(items('{ article_by_id(id: 99) { id } }'))).to.deep.equal({ status: 200, code: 'FORBIDDEN' });
    expect(await failure(items('{ platform_users { id } }'))).to.include({ status: 400 });
    expect(await failure(run('readItem', 'article', 99))).to.deep.equal({ status: 403, code: 'FORBIDDEN' });
  });

  // The SDK has functions to create, read, update and delete one row and many rows of each of these system collections.
  const collections: readonly (readonly [many: string, one: string, row: (at: number) => object, change: object])[] = [
    ['Folders', 'Folder', (at) => ({ name: `folder ${at}` }), { name: 'changed' }],
    ['Presets', 'Preset', (at) => ({ bookmark: `preset ${at}` }), { layout: 'cards' }],
    ['Dashboards', 'Dashboard', (at) => ({ name: `dashboard ${at}` }), { note: 'changed' }],
    ['Translations', 'Translation', (at) => ({ key: `k${at}`, language: 'en-US', value: 'v' }), { value: 'changed' }],
    ['Comments', 'Comment', (at) => ({ collection: 'article', item: '1', comment: `c${at}` }), { comment: 'changed' }],
    ['Roles', 'Role', (at) => ({ name: `role ${at}` }), { description: 'changed' }],
    ['Users', 'User', (at) => ({ email: `u${at}@example.com` }), { title: 'changed' }],
  ];
  for (const [many, one, row, change] of collections) {
    it(`${many.toLowerCase()}: the commands create, read, update and delete one and many`, async () => {
      const root = many.toLowerCase();
      const first = await run(`create${one}`, row(1));
      const others = await run(`create${many}`, [row(2), row(3)]);
      const ids: string[] = [first, ...others].map(({ id }: Untyped) => id);
      expect((await run(`read${one}`, first.id)).id).to.equal(first.id);
      const listed = `query ($ids: [ID]) { ${root}(filter: { id: { _in: $ids } }) { id } ${root}_aggregated(filter: { id: { _in: $ids } }) { countAll } }`;
      const found = await system(listed, { ids });
      expect(found[root].map(({ id }: Untyped) => id)).to.have.members(ids.map(String));
      expect(found[`${root}_aggregated`]).to.deep.equal([{ countAll: 3 }]);
      expect(await run(`read${many}`, { fields: ['id'], filter: { id: { _in: ids } } })).to.have.length(3);
      expect(await run(`update${one}`, first.id, change)).to.deep.include(change);
      expect(await run(`update${many}`, ids, change, { fields: Object.keys(change) })).to.deep.equal([
        change,
        change,
        change,
      ]);
      const [field = ''] = Object.keys(change);
      const updated = await system(
        `mutation ($id: ID!, $data: update_platform_${root}_input!) { update_${root}_item(id: $id, data: $data) { id ${field} } }`,
        { id: first.id, data: change },
      );
      expect(updated).to.deep.equal({ [`update_${root}_item`]: { id: String(first.id), ...change } });
      expect(await run(`delete${one}`, first.id)).to.equal(null);
      expect(await run(`delete${many}`, [ids[1]])).to.equal(null);
      const gone = await system(`mutation ($ids: [ID]!) { delete_${root}_items(ids: $ids) { ids } }`, {
        ids: [ids[2]],
      });
      expect(gone).to.deep.equal({ [`delete_${root}_items`]: { ids: [String(ids[2])] } });
      expect((await system(listed, { ids }))[root]).to.deep.equal([]);
    });
  }

  it('applies the permissions of a user that signs in with its role', async () => {
    const role = await run('createRole', { name: 'Reader' });
    const grant = { role: role.id, collection: 'article', action: 'read', fields: ['id', 'title'] };
    const one = await run('createPermission', { ...grant, permissions: { status: { _eq: 'live' } } });
    expect((await run('readPermission', one.id)).fields).to.deep.equal(['id', 'title']);
    expect(await run('readPermissions', { filter: { role: { _eq: role.id } }, fields: ['id'] })).to.deep.equal([
      { id: one.id },
    ]);
    const [granted] = await run('createPermissions', [{ role: role.id, collection: 'author', action: 'read' }]);
    await run('updatePermissions', [granted.id], { fields: ['name'] });
    await run('createUser', { email: 'reader@example.com', password: 'a long password', role: role.id });
    const reader = clientLibrary
      .createDirectus(service.url)
      .with(clientLibrary.authentication('json'))
      .with(clientLibrary.graphql());
    await reader.login({ email: 'reader@example.com', password: 'a long password' });
    expect(await reader.query('{ article { id title } }')).to.deep.equal({ article: [{ id: '2', title: '2' }] });
    expect(await failure(reader.query('{ article { id views } }'))).to.include({ status: 400 });
    expect(await failure(reader.query('mutation { delete_article_item(id: 2) { id } }'))).to.include({ status: 400 });
    await run('updatePermission', one.id, { fields: ['id', 'title', 'views'] });
    expect(await reader.query('{ article { views } }')).to.deep.equal({ article: [{ views: 8 }] });
    await run('deletePermission', one.id);
    await run('deletePermissions', [granted.id]);
    expect(await failure(reader.query('{ article { id } }'))).to.include({ status: 400 });
    await reader.logout();
  });

  it('reads activity, revisions and the schema snapshot', async () => {
    const [entry] = await run('readActivities', { filter: { collection: { _eq: 'article' } }, sort: ['id'], limit: 1 });
    expect((await run('readActivity', entry.id)).action).to.equal('create');
    const [revision] = await run('readRevisions', { filter: { activity: { _eq: entry.id } } });
    expect((await run('readRevision', revision.id)).collection).to.equal('article');
    const text = 'query ($email: String) { activity(filter: { user: { email: { _eq: $email } } }) { id action } }';
    expect((await system(text, { email: service.admin.email })).activity).to.have.length.greaterThan(1);
    expect(await run('readGraphqlSdl')).to.include('type article {');
    expect(await run('readGraphqlSdl', 'system')).to.include('type platform_users {');
  });

  it('deletes its collections and signs out', async () => {
    expect(await run('deleteItem', 'article', 1)).to.equal(null);
    expect(await run('deleteItems', 'article', [2])).to.equal(null);
    expect(await run('deleteRelation', 'article', 'author')).to.equal(null);
    expect(await run('deleteField', 'article', 'views')).to.equal(null);
    expect(await failure(items('{ article { views } }'))).to.include({ status: 400 });
    expect(await items('{ article { title } }')).to.deep.equal({ article: [] });
    expect(await run('deleteCollection', 'article')).to.equal(null);
    expect(await failure(items('{ article { id } }'))).to.include({ status: 400 });
    expect((await client.refresh()).access_token).to.be.a('string');
    await client.logout();
    expect(await failure(run('readMe'))).to.include({ status: 401 });
  });

  it(`the test has run at least ${COMMANDS} commands of the client library`, () => {
    console.log(`      ${used.size} different commands of the client`);
    expect([...used].filter((name) => typeof clientLibrary[name] !== 'function')).to.deep.equal([]);
    expect(used.size).to.be.at.least(COMMANDS);
  });
});
