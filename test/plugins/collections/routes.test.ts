import { expect } from 'chai';
import { type CollectionsRoutesFixture, withCollectionsRoutes } from './routes-fixture.ts';

const SETUP = `create table author (id serial primary key, name text, secret text);
create table post (id serial primary key, title varchar(20) not null, author int references author);`;
const ROLE = '22222222-2222-4222-8222-222222222222';

/** A role that may read some fields of some collections. */
async function createReadingRole(
  { database }: CollectionsRoutesFixture,
  fields: Record<string, string>,
): Promise<string> {
  await database.query(
    `insert into platform_roles (id, name, admin_access, app_access) values ($1, 'reader', false, false) on conflict do nothing`,
    [ROLE],
  );
  for (const [collection, list] of Object.entries(fields)) {
    await database.query(
      `insert into platform_permissions (role, collection, action, fields) values ($1, $2, 'read', $3)`,
      [ROLE, collection, list],
    );
  }
  return ROLE;
}

const registry = { platform_collections: '*', platform_fields: '*', platform_relations: '*' };
// biome-ignore lint/suspicious/noExplicitAny: rows of any shape
const pick = (rows: any[], key: string) => rows.map((row) => row[key]);

describe('/collections routes', () => {
  it('the routes list, read, create, change and delete collections', () =>
    withCollectionsRoutes(SETUP, async ({ admin }) => {
      const list = await admin('GET', '/collections?limit=1');
      expect(pick(list.body.data, 'collection')).to.include.members([
        'author',
        'post',
        'platform_roles',
        'platform_fields',
      ]);
      expect((await admin('SEARCH', '/collections', { keys: ['post'] })).body.data).to.deep.equal([
        { collection: 'post', meta: null, schema: { schema: 'public', name: 'post', comment: null } },
      ]);
      expect((await admin('SEARCH', '/collections', { query: { limit: 1 } })).body.data).to.deep.equal(list.body.data);
      const created = await admin('POST', '/collections', { collection: 'page', schema: {}, meta: { icon: 'x' } });
      expect([created.status, created.body.data.collection, created.body.data.meta.icon]).to.deep.equal([
        200,
        'page',
        'x',
      ]);
      expect(created.body.data).to.have.all.keys('collection', 'meta', 'schema');
      const two = await admin('POST', '/collections', [{ collection: 'a', schema: {} }, { collection: 'b' }]);
      expect(pick(two.body.data, 'collection')).to.deep.equal(['a', 'b']);
      expect(two.body.data[1].schema).to.equal(null);
      const batch = await admin('PATCH', '/collections', [
        { collection: 'a', meta: { group: 'b' } },
        { collection: 'post', meta: { note: 'n' } },
      ]);
      expect([batch.body.data[0].meta.group, batch.body.data[1].meta.note]).to.deep.equal(['b', 'n']);
      expect((await admin('PATCH', '/collections/a', { meta: { hidden: true } })).body.data.meta.hidden).to.equal(true);
      expect((await admin('PATCH', '/collections/b', { meta: null })).status).to.equal(204);
      const gone = await admin('DELETE', '/collections/a');
      expect([gone.status, gone.body]).to.deep.equal([204, undefined]);
      for (const [method, path] of [
        ['GET', '/collections/a'],
        ['DELETE', '/collections/a'],
        ['PATCH', '/collections/__proto__'],
      ] as const) {
        expect((await admin(method, path, method === 'PATCH' ? {} : undefined)).status).to.equal(404);
      }
    }));

  it('POST /collections with a list creates all collections or none', () =>
    withCollectionsRoutes('', async ({ admin }) => {
      const failed = await admin('POST', '/collections', [
        { collection: 'a', schema: {} },
        { collection: 'a', schema: {} },
      ]);
      expect([failed.status, failed.body.errors[0].extensions.code]).to.deep.equal([400, 'INVALID_PAYLOAD']);
      expect((await admin('GET', '/collections/a')).status).to.equal(404);
    }));

  it('/collections, /fields and /relations answer 400 INVALID_PAYLOAD to malformed bodies', () =>
    withCollectionsRoutes('', async ({ admin }) => {
      for (const [method, path, body] of [
        ['POST', '/collections', undefined],
        ['POST', '/collections', [7]],
        ['POST', '/collections', '{"collection":"a\\u0000","schema":{}}'],
        ['PATCH', '/collections', {}],
        ['PATCH', '/collections', [{}]],
        ['PATCH', '/collections', [null]],
        ['SEARCH', '/collections', { keys: 'a' }],
        ['POST', '/collections', '{"__proto__":{"collection":"a","schema":{}}}'],
        ['POST', '/relations', undefined],
        ['POST', '/fields/platform_roles', 7],
        ['PATCH', '/fields/platform_roles', {}],
        ['PATCH', '/fields/platform_roles', [{ meta: {} }]],
      ] as const) {
        const { status, body: answer } = await admin(method, path, body);
        expect(
          [status, answer?.errors?.[0]?.extensions?.code],
          `${method} ${path} ${JSON.stringify(body)}`,
        ).to.deep.equal([400, 'INVALID_PAYLOAD']);
      }
    }));
});

describe('/fields routes', () => {
  it('the routes list, read, create, change and delete fields', () =>
    withCollectionsRoutes(SETUP, async ({ admin }) => {
      expect(pick((await admin('GET', '/fields')).body.data, 'collection')).to.include.members([
        'post',
        'author',
        'platform_roles',
      ]);
      expect(pick((await admin('GET', '/fields/post')).body.data, 'field')).to.deep.equal(['id', 'title', 'author']);
      const one = (await admin('GET', '/fields/post/title')).body.data;
      expect(one).to.deep.include({ collection: 'post', field: 'title', type: 'string', meta: null });
      expect(one.schema).to.include({ max_length: 20, is_nullable: false, data_type: 'character varying' });
      const created = await admin('POST', '/fields/post', {
        field: 'tags',
        type: 'csv',
        meta: { interface: 'tags' },
        schema: { default_value: null },
      });
      expect(created.body.data).to.deep.nested.include({
        type: 'csv',
        'meta.special': ['cast-csv'],
        'meta.interface': 'tags',
      });
      const changed = await admin('PATCH', '/fields/post/title', { meta: { note: 'n' }, schema: { max_length: 30 } });
      expect(changed.body.data).to.deep.nested.include({ 'meta.note': 'n', 'schema.max_length': 30 });
      const batch = await admin('PATCH', '/fields/post', [
        { field: 'tags', meta: { sort: 1 } },
        { field: 'title', meta: { sort: 2 } },
      ]);
      expect(batch.body.data.map((row: { meta: { sort: number } }) => row.meta.sort)).to.deep.equal([1, 2]);
      expect((await admin('DELETE', '/fields/post/tags')).status).to.equal(204);
      for (const path of [
        '/fields/post/tags',
        '/fields/nowhere',
        '/fields/nowhere/a',
        '/fields/post/__proto__',
        '/fields/constructor',
      ]) {
        expect((await admin('GET', path)).status, path).to.equal(404);
      }
    }));

  it('DELETE /fields removes the field from permissions in the same transaction', () =>
    withCollectionsRoutes(SETUP, async (served) => {
      const role = await createReadingRole(served, { ...registry, post: 'id,title,author' });
      expect(pick((await served.as(role, 'GET', '/fields/post')).body.data, 'field')).to.deep.equal([
        'id',
        'title',
        'author',
      ]);
      await served.admin('DELETE', '/fields/post/title');
      const rows = `select fields from platform_permissions where collection = 'post'`;
      expect(await served.database.query(rows)).to.deep.equal([{ fields: 'id,author' }]);
      await served.admin('DELETE', '/collections/post');
      expect(await served.database.query(rows)).to.deep.equal([]);
    }));
});

describe('/relations routes', () => {
  it('the routes list, read, create, change and delete relations', () =>
    withCollectionsRoutes(`${SETUP} alter table post add editor int;`, async ({ admin }) => {
      expect((await admin('GET', '/relations/post')).body.data).to.have.length(1);
      expect((await admin('GET', '/relations/post/author')).body.data).to.deep.include({
        collection: 'post',
        field: 'author',
        related_collection: 'author',
        meta: null,
      });
      const created = await admin('POST', '/relations', {
        collection: 'post',
        field: 'editor',
        related_collection: 'author',
        meta: { one_field: 'edited' },
      });
      expect(created.body.data).to.deep.nested.include({ 'schema.on_delete': 'SET NULL', 'meta.one_field': 'edited' });
      const changed = await admin('PATCH', '/relations/post/editor', { schema: { on_delete: 'CASCADE' } });
      expect(changed.body.data.schema.on_delete).to.equal('CASCADE');
      expect((await admin('GET', '/relations')).body.data.length).to.be.greaterThan(1);
      expect((await admin('DELETE', '/relations/post/editor')).status).to.equal(204);
      expect((await admin('GET', '/relations/post/editor')).status).to.equal(404);
      expect((await admin('GET', '/fields/post/editor')).status).to.equal(200);
    }));
});

describe('visibility of /collections, /fields and /relations', () => {
  const READS = [
    '/collections',
    '/collections/post',
    '/fields',
    '/fields/post',
    '/fields/post/title',
    '/relations',
    '/relations/post',
    '/relations/post/author',
  ];

  it('a caller without read permission on the registry gets 403 on every read', () =>
    withCollectionsRoutes(SETUP, async (served) => {
      const role = await createReadingRole(served, { post: '*' });
      for (const path of READS) {
        expect((await served.as(null, 'GET', path)).status, path).to.equal(403);
        expect((await served.as(role, 'GET', path)).status, path).to.equal(403);
      }
    }));

  it('a role sees the collections, fields and relations that it may read, and the folders around them', () =>
    withCollectionsRoutes(SETUP, async (served) => {
      await served.admin('POST', '/collections', [
        { collection: 'outer' },
        { collection: 'inner', meta: { group: 'outer' } },
        { collection: 'empty' },
      ]);
      await served.admin('PATCH', '/collections/post', { meta: { group: 'inner' } });
      const role = await createReadingRole(served, { ...registry, post: 'id,author' });
      const see = async (path: string) => (await served.as(role, 'GET', path)).body.data;
      expect(
        pick(await see('/collections'), 'collection').filter((name) => !name.startsWith('platform_')),
      ).to.have.members(['post', 'inner', 'outer']);
      expect(pick(await see('/fields/post'), 'field')).to.deep.equal(['id', 'author']);
      expect(pick(await see('/fields'), 'collection')).not.to.include('author');
      expect(await see('/relations/post')).to.deep.equal([]);
      for (const path of [
        '/collections/author',
        '/collections/empty',
        '/fields/author',
        '/fields/post/title',
        '/relations/post/author',
        '/relations/author',
      ]) {
        expect((await served.as(role, 'GET', path)).status, path).to.equal(403);
      }
      expect((await served.as(role, 'SEARCH', '/collections', { keys: ['post', 'author'] })).status).to.equal(403);
    }));

  it('a role sees a relation where it may read both ends', () =>
    withCollectionsRoutes(SETUP, async (served) => {
      const role = await createReadingRole(served, { ...registry, post: '*', author: 'id' });
      expect((await served.as(role, 'GET', '/relations/post')).body.data).to.have.length(1);
    }));

  it('a role with app access reads the registry without a permission', () =>
    withCollectionsRoutes(SETUP, async (served) => {
      const role = await createReadingRole(served, { post: '*' });
      await served.database.query('update platform_roles set app_access = true where id = $1', [role]);
      expect((await served.as(`${role}+app`, 'GET', '/fields/post')).status).to.equal(200);
      expect((await served.as(`${role}+app`, 'GET', '/fields/author')).status).to.equal(403);
    }));

  it('a caller that is not an admin gets 403 FORBIDDEN on every write, whatever the body', () =>
    withCollectionsRoutes(SETUP, async (served) => {
      const role = await createReadingRole(served, { ...registry, post: '*' });
      for (const [method, path, body] of [
        ['POST', '/collections', { collection: 'x', schema: {} }],
        ['POST', '/collections', []],
        ['PATCH', '/collections', []],
        ['PATCH', '/collections/post', {}],
        ['DELETE', '/collections/post', undefined],
        ['POST', '/fields/post', {}],
        ['PATCH', '/fields/post', []],
        ['PATCH', '/fields/post/title', {}],
        ['DELETE', '/fields/post/title', undefined],
        ['POST', '/relations', {}],
        ['PATCH', '/relations/post/author', {}],
        ['DELETE', '/relations/post/author', undefined],
      ] as const) {
        for (const who of [null, role]) {
          const { status, body: answer } = await served.as(who, method, path, body);
          expect([status, answer.errors[0].extensions.code], `${method} ${path}`).to.deep.equal([403, 'FORBIDDEN']);
        }
      }
    }));
});
