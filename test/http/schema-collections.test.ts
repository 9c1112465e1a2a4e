import { expect } from 'chai';
import type { FreshDatabase } from '../support/database.ts';
import {
  createMigratedDatabase,
  type HttpReply,
  type InProcessService,
  type SpawnedService,
  spawnService,
  startService,
} from '../support/service.ts';
import { createUserWithPermissions, requestAsAdmin } from './test-users.ts';

const refusal = ({ status, body }: HttpReply) => [status, body?.errors?.[0]?.extensions?.code];
const INVALID = [400, 'INVALID_PAYLOAD'];
const HIDDEN = [403, 'FORBIDDEN'];
const ABSENT = [404, 'ROUTE_NOT_FOUND'];
// biome-ignore lint/suspicious/noExplicitAny: records of several kinds
const names = (rows: any[], key: string): string[] => rows.map((row) => row[key]);

describe('/collections', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  before(async () => {
    database = await createMigratedDatabase('sdk_collections');
    await database.query(`
      create table adopted (id serial primary key, name text not null, secret text);
      comment on table adopted is 'of old';
      create table pair (a int, b int, primary key (a, b));
      insert into adopted (name, secret) values ('one', 's1'), ('two', 's2');
      create view shouted as select id, upper(name) as name from adopted;
    `);
    service = await startService({ database });
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  const send = (method: string, path: string, body?: unknown, token: string | null = service.admin.token) =>
    service.request(method, path, { token, body });
  const admin = (method: string, path: string, body?: unknown) => requestAsAdmin(service, method, path, body);
  const make = (collection: string, fields: unknown[] = [], meta: object = {}) =>
    admin('POST', '/collections', { collection, schema: {}, meta, fields });
  const tableExists = async (name: string) =>
    (await database.query<{ at: string | null }>('select to_regclass($1)::text as at', [`"${name}"`]))[0]?.at !== null;
  const registered = async (name: string) =>
    Object.values(
      (
        await database.query<Record<string, number>>(
          `select (select count(*)::int from platform_collections where collection = $1) as collections,
            (select count(*)::int from platform_fields where collection = $1) as fields,
            (select count(*)::int from platform_relations where many_collection = $1 or one_collection = $1) as relations,
            (select count(*)::int from platform_permissions where collection = $1) as permissions`,
          [name],
        )
      )[0] ?? {},
    );

  describe('POST /collections', () => {
    it('a collection without fields has a table with an auto-increment id, and is usable at once', async () => {
      const reply = await send('POST', '/collections', { collection: 'bare', schema: {} });
      expect(reply.status).to.equal(200);
      expect(reply.body).to.deep.equal({
        data: {
          collection: 'bare',
          meta: {
            collection: 'bare',
            icon: null,
            note: null,
            color: null,
            display_template: null,
            hidden: false,
            singleton: false,
            translations: null,
            archive_field: null,
            archive_value: null,
            unarchive_value: null,
            archive_app_filter: true,
            sort_field: null,
            accountability: 'all',
            item_duplication_fields: null,
            sort: null,
            group: null,
            collapse: 'open',
          },
          schema: { schema: 'public', name: 'bare', comment: null },
        },
      });
      expect((await send('POST', '/items/bare', {})).body).to.deep.equal({ data: { id: 1 } });
      expect((await send('POST', '/items/bare', [{}, {}])).body.data).to.deep.equal([{ id: 2 }, { id: 3 }]);
      const id = await admin('GET', '/fields/bare/id');
      expect(id).to.deep.nested.include({ type: 'integer', 'schema.is_primary_key': true, 'meta.sort': 1 });
      expect(id.schema.has_auto_increment).to.equal(true);
    });

    it('a collection with fields gets an id first where none is the primary key, and sort is the position', async () => {
      const data = await make('fielded', [
        { field: 'title', type: 'string', schema: { is_nullable: false }, meta: { interface: 'input' } },
        { field: 'views', type: 'integer', schema: { default_value: 7 } },
        { field: 'divider', type: 'alias', meta: { special: ['alias', 'no-data'] } },
      ]);
      expect(data).to.have.all.keys('collection', 'meta', 'schema');
      const fields = await admin('GET', '/fields/fielded');
      expect(
        fields.map((one: Record<string, { sort: number }>) => [one.field, one.type, one.meta?.sort]),
      ).to.deep.equal([
        ['id', 'integer', 1],
        ['title', 'string', 2],
        ['views', 'integer', 3],
        ['divider', 'alias', 4],
      ]);
      expect(await admin('POST', '/items/fielded', { title: 'a' })).to.deep.equal({ id: 1, title: 'a', views: 7 });
    });

    for (const [type, key] of [
      ['uuid', '7b3c2d86-7f0e-4a57-9d0f-36dff5b4a7a9'],
      ['string', 'a-key'],
      ['bigInteger', '9007199254740993'],
      ['integer', 12],
    ] as const) {
      it(`a collection may have a primary key of type ${type}`, async () => {
        const name = `keyed_${type.toLowerCase()}`;
        await make(name, [
          { field: 'code', type, schema: { is_primary_key: true } },
          { field: 'name', type: 'string' },
        ]);
        expect(names(await admin('GET', `/fields/${name}`), 'field')).to.deep.equal(['code', 'name']);
        expect(await admin('POST', `/items/${name}`, { code: key, name: 'x' })).to.deep.equal({
          code: key,
          name: 'x',
        });
        expect(await admin('PATCH', `/items/${name}/${key}`, { name: 'y' })).to.deep.equal({
          code: key,
          name: 'y',
        });
        expect((await send('DELETE', `/items/${name}/${key}`)).status).to.equal(204);
      });
    }

    it('a uuid primary key is generated', async () => {
      await make('generated', [
        { field: 'id', type: 'uuid', schema: { is_primary_key: true }, meta: { special: ['uuid'] } },
      ]);
      expect((await admin('POST', '/items/generated', {})).id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    });

    it('a collection with schema null or without schema is a folder without a table', async () => {
      const folder = await admin('POST', '/collections', {
        collection: 'folder',
        schema: null,
        meta: { icon: 'folder' },
      });
      expect([folder.schema, folder.meta.icon]).to.deep.equal([null, 'folder']);
      expect((await admin('POST', '/collections', { collection: 'folder2', meta: {} })).schema).to.equal(null);
      expect(await tableExists('folder')).to.equal(false);
      expect(refusal(await send('GET', '/items/folder'))).to.deep.equal(ABSENT);
      expect(refusal(await send('POST', '/items/folder', {}))).to.deep.equal(ABSENT);
      expect(await admin('GET', '/fields/folder')).to.deep.equal([]);
    });

    it('a list creates all collections or none', async () => {
      const reply = await send('POST', '/collections', [
        { collection: 'many1', schema: {} },
        { collection: 'many2', schema: {}, meta: { group: 'folder' } },
      ]);
      expect(names(reply.body.data, 'collection')).to.deep.equal(['many1', 'many2']);
      const failed = await send('POST', '/collections', [
        { collection: 'many3', schema: {} },
        { collection: 'many1', schema: {} },
      ]);
      expect(refusal(failed)).to.deep.equal(INVALID);
      expect(await tableExists('many3')).to.equal(false);
      expect((await send('POST', '/collections', [])).body).to.deep.equal({ data: [] });
    });

    it('a bad name is rejected with INVALID_PAYLOAD', async () => {
      for (const collection of [
        undefined,
        null,
        7,
        '',
        ' ',
        ' padded',
        'padded ',
        'platform_x',
        'PLATFORM_x',
        'a/b',
        'a\u0000b',
        '__proto__',
        'x'.repeat(64),
        'adopted',
        'bare',
        'folder',
      ]) {
        const reply = await send('POST', '/collections', { collection, schema: {} });
        expect(refusal(reply), JSON.stringify(collection)).to.deep.equal(INVALID);
      }
    });

    it('a name that needs quoting in SQL is accepted', async () => {
      for (const collection of ['Mixed Case', 'select', 'ünïcode', 'with-dash', '1digit']) {
        await make(collection, [{ field: 'Order By', type: 'string' }]);
        const path = `/items/${encodeURIComponent(collection)}`;
        await admin('POST', path, { 'Order By': 'x' });
        expect(await admin('GET', `${path}?filter[Order By][_eq]=x&sort=Order By`), collection).to.deep.equal([
          { id: 1, 'Order By': 'x' },
        ]);
        await admin('DELETE', `/collections/${encodeURIComponent(collection)}`);
        expect(await tableExists(collection)).to.equal(false);
      }
    });

    it('bad fields are rejected with INVALID_PAYLOAD, and leave neither a table nor registry rows', async () => {
      for (const [fields, why] of [
        [
          [
            { field: 'a', type: 'string' },
            { field: 'a', type: 'string' },
          ],
          'twice',
        ],
        [[{ type: 'string' }], 'no name'],
        [[{ field: 'a', type: 'nonsense' }], 'no such type'],
        [[{ field: 'a' }], 'no type'],
        [[{ field: 'd', type: 'date', schema: { default_value: 'no date' } }], 'the database refuses the default'],
        [[{ field: 'g', type: 'string', schema: { max_length: 0 } }], 'no length'],
        [[{ field: 'a', type: 'text', schema: { is_primary_key: true } }], 'a key of text'],
        [
          [
            { field: 'a', type: 'integer', schema: { is_primary_key: true } },
            { field: 'b', type: 'integer', schema: { is_primary_key: true } },
          ],
          'two keys',
        ],
        ['nonsense', 'no list'],
        [[null], 'no field'],
      ] as const) {
        const reply = await send('POST', '/collections', { collection: 'broken', schema: {}, fields });
        expect(refusal(reply), why).to.deep.equal(INVALID);
        expect(await tableExists('broken'), why).to.equal(false);
        expect(await registered('broken'), why).to.deep.equal([0, 0, 0, 0]);
      }
      expect(refusal(await send('GET', '/collections/broken'))).to.deep.equal(ABSENT);
    });
  });

  describe('PATCH /collections', () => {
    it('every member of meta is stored as sent', async () => {
      const meta = {
        icon: 'star',
        note: 'a note',
        color: '#ff0000',
        display_template: '{{title}}',
        hidden: true,
        translations: [{ language: 'de-DE', translation: 'Ding', singular: 'Ding', plural: 'Dinge' }],
        archive_field: 'status',
        archive_value: 'archived',
        unarchive_value: 'draft',
        archive_app_filter: false,
        accountability: 'activity',
        item_duplication_fields: ['title'],
        sort: 3,
        group: 'folder',
        collapse: 'closed',
      };
      await make('verbatim', [{ field: 'title', type: 'string' }], meta);
      expect((await admin('GET', '/collections/verbatim')).meta).to.deep.include(meta);
      const changed = await admin('PATCH', '/collections/verbatim', { meta: { accountability: null, note: null } });
      expect(changed.meta).to.deep.include({ ...meta, accountability: null, note: null });
      // Clients may send back the whole record that they have read, which changes nothing.
      expect(await admin('PATCH', '/collections/verbatim', changed)).to.deep.equal(changed);
      expect(await admin('PATCH', '/collections/verbatim', {})).to.deep.equal(changed);
      for (const bad of [{ hidden: 'yes' }, { accountability: 'some' }, { sort: 'a' }, { note: 'a\u0000' }]) {
        expect(refusal(await send('PATCH', '/collections/verbatim', { meta: bad })), JSON.stringify(bad)).to.deep.equal(
          INVALID,
        );
      }
    });

    it('unknown members of meta are ignored, and __proto__ is rejected', async () => {
      expect(
        (await admin('PATCH', '/collections/verbatim', { meta: { nothing: 1, constructor: 2 } })).meta.hidden,
      ).to.equal(true);
      const reply = await send('PATCH', '/collections/verbatim', '{"meta":{"__proto__":{"hidden":false}}}');
      expect(refusal(reply)).to.deep.equal(INVALID);
    });

    it('a list changes all collections or none', async () => {
      const reply = await send('PATCH', '/collections', [
        { collection: 'many1', meta: { note: '1' } },
        { collection: 'many2', meta: { note: '2' } },
      ]);
      expect(reply.body.data.map((one: { meta: { note: string } }) => one.meta.note)).to.deep.equal(['1', '2']);
      const failed = await send('PATCH', '/collections', [
        { collection: 'many1', meta: { note: 'x' } },
        { collection: 'nowhere', meta: { note: 'x' } },
      ]);
      expect(refusal(failed)).to.deep.equal(ABSENT);
      expect((await admin('GET', '/collections/many1')).meta.note).to.equal('1');
      expect(refusal(await send('PATCH', '/collections', { collection: 'many1' }))).to.deep.equal(INVALID);
      expect(refusal(await send('PATCH', '/collections', [{ meta: {} }]))).to.deep.equal(INVALID);
    });

    it('an unknown collection is 404, and a system collection cannot be changed', async () => {
      expect(refusal(await send('PATCH', '/collections/nowhere', { meta: {} }))).to.deep.equal(ABSENT);
      expect(refusal(await send('PATCH', '/collections/platform_users', { meta: { hidden: true } }))).to.deep.equal(
        INVALID,
      );
      expect(refusal(await send('DELETE', '/collections/platform_users'))).to.deep.equal(INVALID);
    });

    it('meta.singleton turns the list of items into one object and back', async () => {
      await make('single', [{ field: 'name', type: 'string', schema: { default_value: 'Untitled' } }]);
      await admin('PATCH', '/collections/single', { meta: { singleton: true } });
      expect(await admin('GET', '/items/single')).to.deep.equal({ id: null, name: 'Untitled' });
      expect(await admin('PATCH', '/items/single', { name: 'x' })).to.deep.equal({ id: 1, name: 'x' });
      expect(refusal(await send('POST', '/items/single', {}))).to.deep.equal([404, 'ROUTE_NOT_FOUND']);
      await admin('PATCH', '/collections/single', { meta: { singleton: false } });
      expect(await admin('GET', '/items/single')).to.deep.equal([{ id: 1, name: 'x' }]);
    });

    it('meta.sort_field is the default order of items', async () => {
      await make('sorted', [{ field: 'rank', type: 'integer' }], { sort_field: 'rank' });
      await admin('POST', '/items/sorted', [{ rank: 3 }, { rank: 1 }, { rank: 2 }]);
      expect(names(await admin('GET', '/items/sorted'), 'rank').map(Number)).to.deep.equal([1, 2, 3]);
      expect(names(await admin('GET', '/items/sorted?sort=-rank'), 'rank').map(Number)).to.deep.equal([3, 2, 1]);
    });
  });

  describe('/collections of existing tables', () => {
    it('a table created by SQL is listed with meta null, and its items are served', async () => {
      expect(await admin('GET', '/collections/adopted')).to.deep.equal({
        collection: 'adopted',
        meta: null,
        schema: { schema: 'public', name: 'adopted', comment: 'of old' },
      });
      expect(await admin('GET', '/items/adopted?fields=name')).to.deep.equal([{ name: 'one' }, { name: 'two' }]);
    });

    it('PATCH registers the table, meta null unregisters it, and the table stays', async () => {
      const known = await admin('PATCH', '/collections/adopted', { meta: { note: 'mine' } });
      expect([known.meta.note, known.meta.accountability, known.meta.hidden]).to.deep.equal(['mine', 'all', false]);
      const forgotten = await admin('PATCH', '/collections/adopted', { meta: null });
      expect(forgotten.meta).to.equal(null);
      expect(await admin('GET', '/items/adopted?fields=name&limit=1')).to.deep.equal([{ name: 'one' }]);
      expect(await registered('adopted')).to.deep.equal([0, 0, 0, 0]);
    });

    it('a view can be read and registered, and not changed', async () => {
      expect((await admin('GET', '/collections/shouted')).schema.name).to.equal('shouted');
      expect(await admin('GET', '/items/shouted?sort=id')).to.deep.equal([
        { id: 1, name: 'ONE' },
        { id: 2, name: 'TWO' },
      ]);
      expect((await admin('PATCH', '/collections/shouted', { meta: { icon: 'x' } })).meta.icon).to.equal('x');
      expect(refusal(await send('POST', '/fields/shouted', { field: 'x', type: 'string' }))).to.deep.equal(INVALID);
      expect(refusal(await send('DELETE', '/collections/shouted'))).to.deep.equal(INVALID);
      expect(refusal(await send('DELETE', '/fields/shouted/name'))).to.deep.equal(INVALID);
    });

    it('a table with a composite key is served', async () => {
      expect((await admin('GET', '/collections/pair')).schema.name).to.equal('pair');
      expect(names(await admin('GET', '/fields/pair'), 'field')).to.deep.equal(['a', 'b']);
      expect(await admin('GET', '/items/pair')).to.be.an('array');
    });
  });

  describe('DELETE /collections', () => {
    it('the table is dropped with everything that refers to it', async () => {
      await admin('POST', '/collections', { collection: 'area', schema: null, meta: {} });
      await make(
        'doomed',
        [
          { field: 'title', type: 'string' },
          { field: 'home', type: 'integer' },
        ],
        { group: 'area' },
      );
      await make(
        'child',
        [
          { field: 'parent', type: 'integer' },
          { field: 'name', type: 'string' },
        ],
        { group: 'doomed' },
      );
      await make('home', []);
      await admin('POST', '/fields/doomed', { field: 'children', type: 'alias', meta: { special: ['o2m'] } });
      await admin('POST', '/fields/home', { field: 'all_doomed', type: 'alias', meta: { special: ['o2m'] } });
      await admin('POST', '/relations', {
        collection: 'child',
        field: 'parent',
        related_collection: 'doomed',
        meta: { one_field: 'children' },
      });
      await admin('POST', '/relations', {
        collection: 'doomed',
        field: 'home',
        related_collection: 'home',
        meta: { one_field: 'all_doomed' },
      });
      await make('any', [
        { field: 'item', type: 'string' },
        { field: 'collection', type: 'string' },
      ]);
      await admin('POST', '/relations', {
        collection: 'any',
        field: 'item',
        related_collection: null,
        meta: { one_collection_field: 'collection', one_allowed_collections: ['doomed', 'home'] },
      });
      await admin('POST', '/items/doomed', { title: 'x', children: [{ name: 'c' }], home: {} });
      const { role, token } = await createUserWithPermissions(service, [
        { collection: 'doomed', action: 'read' },
        { collection: 'child', action: 'read', fields: ['name', 'parent'], permissions: { parent: { _nnull: true } } },
        { collection: 'home', action: 'read', fields: ['id', 'all_doomed'] },
      ]);
      expect((await send('GET', '/items/child?fields=name,parent.title', undefined, token)).body.data).to.deep.equal([
        { name: 'c', parent: { title: 'x' } },
      ]);

      const reply = await send('DELETE', '/collections/doomed');
      expect([reply.status, reply.body]).to.deep.equal([204, undefined]);
      expect(await tableExists('doomed')).to.equal(false);
      expect(await registered('doomed')).to.deep.equal([0, 0, 0, 0]);
      expect(refusal(await send('GET', '/collections/doomed'))).to.deep.equal(ABSENT);
      expect(refusal(await send('GET', '/items/doomed'))).to.deep.equal(ABSENT);
      // Foreign keys and aliases of other collections are gone.
      expect(names(await admin('GET', '/fields/child'), 'field')).to.deep.equal(['id', 'name']);
      expect(names(await admin('GET', '/fields/home'), 'field')).to.deep.equal(['id']);
      expect((await admin('GET', '/collections/child')).meta.group).to.equal(null);
      const any = await admin('GET', '/relations/any/item');
      expect(any.meta.one_allowed_collections).to.deep.equal(['home']);
      const permissions = await database.query(
        'select collection, fields from platform_permissions where role = $1 order by collection',
        [role],
      );
      expect(permissions).to.deep.equal([
        { collection: 'child', fields: 'name' },
        { collection: 'home', fields: 'id' },
      ]);
      // A permission whose rule named the deleted field must not allow all rows now.
      expect((await send('GET', '/items/child', undefined, token)).body.data ?? []).to.deep.equal([]);
      expect(await admin('GET', '/items/child')).to.deep.equal([{ id: 1, name: 'c' }]);
    });

    it('the children of a deleted folder move to the root', async () => {
      await admin('POST', '/collections', [
        { collection: 'outer', schema: null },
        { collection: 'inner', schema: {}, meta: { group: 'outer' } },
      ]);
      expect((await send('DELETE', '/collections/outer')).status).to.equal(204);
      expect((await admin('GET', '/collections/inner')).meta.group).to.equal(null);
    });

    it('an unknown collection is 404, and a deleted name can be used again', async () => {
      expect(refusal(await send('DELETE', '/collections/nowhere'))).to.deep.equal(ABSENT);
      await make('again', [{ field: 'a', type: 'string' }]);
      await admin('DELETE', '/collections/again');
      await make('again', [{ field: 'b', type: 'integer' }]);
      expect(await admin('POST', '/items/again', { b: 1 })).to.deep.equal({ id: 1, b: 1 });
    });
  });

  describe('GET and SEARCH /collections', () => {
    it('the list has user, system and folder collections, query parameters have no effect, and SEARCH takes keys', async () => {
      const all = await admin('GET', '/collections');
      expect(names(all, 'collection')).to.include.members(['adopted', 'bare', 'folder', 'platform_users']);
      const users = all.find((one: { collection: string }) => one.collection === 'platform_users');
      expect(users.meta.system).to.equal(true);
      expect(await admin('GET', '/collections?limit=1&filter[collection][_eq]=x')).to.deep.equal(all);
      expect((await send('SEARCH', '/collections', { query: { limit: 1 } })).body.data).to.deep.equal(all);
      expect(
        names((await send('SEARCH', '/collections', { keys: ['bare', 'folder'] })).body.data, 'collection'),
      ).to.have.members(['bare', 'folder']);
    });

    it('an admin sees sessions and migrations with their fields, and can change neither', async () => {
      for (const [name, fields] of [
        [
          'platform_sessions',
          ['token', 'id', 'user', 'share', 'expires', 'ip', 'user_agent', 'origin', 'created', 'last_used'],
        ],
        ['platform_migrations', ['owner', 'id', 'at', 'version', 'works_since']],
      ] as const) {
        const one = await admin('GET', `/collections/${name}`);
        expect(one.meta.system).to.equal(true);
        expect(names(await admin('GET', '/collections'), 'collection')).to.include(name);
        expect(names(await admin('GET', `/fields/${name}`), 'field')).to.have.members([...fields]);
        for (const [method, path, body] of [
          ['PATCH', `/collections/${name}`, { meta: { note: 'x' } }],
          ['DELETE', `/collections/${name}`, undefined],
          ['POST', `/fields/${name}`, { field: 'x', type: 'string' }],
          ['PATCH', `/fields/${name}/${fields[0]}`, { meta: { note: 'x' } }],
          ['DELETE', `/fields/${name}/${fields[0]}`, undefined],
          ['GET', `/items/${name}`, undefined],
          ['PATCH', `/items/${name}/1`, { user: null }],
        ] as const)
          expect((await send(method, path, body)).status, `${method} ${path}`).to.be.within(400, 404);
      }
      const { token } = await createUserWithPermissions(
        service,
        [{ collection: 'platform_sessions', action: 'read' }],
        {
          app_access: true,
        },
      );
      expect(refusal(await send('GET', '/fields/platform_sessions', undefined, token))).to.deep.equal(HIDDEN);
    });
  });

  describe('/collections, /fields and /relations for callers that are not admins', () => {
    it('a write is 403 whatever its body', async () => {
      const { token } = await createUserWithPermissions(service, [
        { collection: 'platform_collections', action: 'create' },
        { collection: 'platform_collections', action: 'update' },
        { collection: 'platform_collections', action: 'delete' },
        { collection: 'platform_fields', action: 'create' },
      ]);
      for (const who of [token, null]) {
        for (const [method, path, body] of [
          ['POST', '/collections', { collection: '' }],
          ['PATCH', '/collections', {}],
          ['PATCH', '/collections/bare', { meta: { hidden: 1 } }],
          ['DELETE', '/collections/bare', undefined],
          ['POST', '/fields/bare', {}],
          ['PATCH', '/fields/bare', {}],
          ['PATCH', '/fields/bare/id', {}],
          ['DELETE', '/fields/bare/id', undefined],
          ['POST', '/relations', {}],
          ['PATCH', '/relations/bare/id', {}],
          ['DELETE', '/relations/bare/id', undefined],
        ] as const) {
          expect(refusal(await send(method, path, body, who)), `${method} ${path}`).to.deep.equal(HIDDEN);
        }
      }
    });

    it('a caller without a token or without app access gets 403', async () => {
      const { token } = await createUserWithPermissions(service, [{ collection: 'bare', action: 'read' }]);
      for (const who of [token, null]) {
        for (const path of [
          '/collections',
          '/collections/bare',
          '/fields',
          '/fields/bare',
          '/fields/bare/id',
          '/relations',
        ]) {
          expect(refusal(await send('GET', path, undefined, who)), path).to.deep.equal(HIDDEN);
        }
      }
    });

    it('app access shows readable collections, and unreadable ones get the answer of unknown ones', async () => {
      await make('seen', [
        { field: 'open', type: 'string' },
        { field: 'closed', type: 'string' },
        { field: 'to_unseen', type: 'integer' },
      ]);
      await make('unseen', [{ field: 'seen', type: 'integer' }]);
      await admin('POST', '/relations', { collection: 'unseen', field: 'seen', related_collection: 'seen' });
      await admin('POST', '/relations', { collection: 'seen', field: 'to_unseen', related_collection: 'unseen' });
      const { token } = await createUserWithPermissions(
        service,
        [{ collection: 'seen', action: 'read', fields: ['id', 'open', 'to_unseen'] }],
        { app_access: true },
      );
      const as = (path: string) => send('GET', path, undefined, token);
      const list = names((await as('/collections')).body.data, 'collection');
      expect(list).to.include('seen');
      expect(list).not.to.include.members(['unseen']);
      expect(list).not.to.include.members(['platform_sessions']);
      expect(names((await as('/fields/seen')).body.data, 'field')).to.deep.equal(['id', 'open', 'to_unseen']);
      for (const path of [
        '/collections/unseen',
        '/collections/nowhere',
        '/fields/unseen',
        '/fields/nowhere',
        '/fields/seen/closed',
        '/fields/seen/nothing',
        '/relations/unseen',
        '/relations/unseen/seen',
        '/relations/seen/to_unseen',
      ]) {
        const reply = await as(path);
        expect(refusal(reply), path).to.deep.equal(HIDDEN);
        expect(reply.body.errors[0].extensions, path).to.deep.equal({ code: 'FORBIDDEN' });
      }
      expect((await as('/relations/seen')).body.data).to.deep.equal([]);
      for (const path of ['/collections', '/fields', '/fields/seen', '/fields/seen/to_unseen', '/relations']) {
        expect(JSON.stringify((await as(path)).body.data), path).not.to.match(/"unseen"|"closed"/);
      }
    });

    it('a folder is visible where a collection in it is', async () => {
      await admin('POST', '/collections', [
        { collection: 'top', schema: null },
        { collection: 'below', schema: null, meta: { group: 'top' } },
        { collection: 'inside', schema: {}, meta: { group: 'below' } },
        { collection: 'other_folder', schema: null },
      ]);
      const { token } = await createUserWithPermissions(service, [{ collection: 'inside', action: 'read' }], {
        app_access: true,
      });
      const list = names((await send('GET', '/collections', undefined, token)).body.data, 'collection');
      expect(list).to.include.members(['top', 'below', 'inside']);
      expect(list).not.to.include('other_folder');
    });

    it('the Public role sees readable collections once it may read the registry', async () => {
      const role = '00000000-0000-0000-0000-000000000000';
      const rows = await admin('POST', '/permissions', [
        { role, collection: 'platform_collections', action: 'read', fields: ['*'] },
        { role, collection: 'bare', action: 'read', fields: ['id'] },
      ]);
      try {
        const list = names((await send('GET', '/collections', undefined, null)).body.data, 'collection');
        expect(list).to.have.members(['bare', 'platform_collections']);
      } finally {
        await admin(
          'DELETE',
          '/permissions',
          rows.map(({ id }: { id: number }) => id),
        );
      }
    });
  });

  describe('/collections during changes by other connections', () => {
    it('the next request sees tables and columns that SQL created or dropped', async () => {
      for (let round = 0; round < 15; round++) {
        await database.query(`create table made_outside (id serial primary key, a text)`);
        expect((await send('GET', '/items/made_outside')).body, `round ${round}`).to.deep.equal({ data: [] });
        await database.query(`alter table made_outside add column b int default 3`);
        expect((await send('GET', '/fields/made_outside/b')).status, `round ${round}`).to.equal(200);
        expect(await admin('POST', '/items/made_outside', { a: 'x', b: 4 })).to.deep.equal({ id: 1, a: 'x', b: 4 });
        await database.query(`alter table made_outside drop column a`);
        expect(await admin('GET', '/items/made_outside'), `round ${round}`).to.deep.equal([{ id: 1, b: 4 }]);
        await database.query(`alter table made_outside rename column b to c`);
        expect(await admin('GET', '/items/made_outside'), `round ${round}`).to.deep.equal([{ id: 1, c: 4 }]);
        await database.query(`alter table made_outside alter column c type text`);
        expect(await admin('GET', '/items/made_outside'), `round ${round}`).to.deep.equal([{ id: 1, c: '4' }]);
        await database.query('drop table made_outside');
        expect((await send('GET', '/items/made_outside')).status, `round ${round}`).to.equal(404);
        expect((await send('GET', '/collections/made_outside')).status).to.equal(404);
      }
    });

    it('concurrent changes of one collection wait for each other', async () => {
      await make('busy', []);
      const replies = await Promise.all([
        ...Array.from({ length: 12 }, (_, at) => send('POST', '/fields/busy', { field: `f${at % 8}`, type: 'string' })),
        ...Array.from({ length: 12 }, () => send('POST', '/items/busy', {})),
        ...Array.from({ length: 12 }, () => send('GET', '/items/busy')),
      ]);
      const counts = (list: HttpReply[]) => list.map(({ status }) => status).sort();
      expect(counts(replies.slice(0, 12))).to.deep.equal([...Array(8).fill(200), ...Array(4).fill(400)]);
      expect(counts(replies.slice(12))).to.deep.equal(Array(24).fill(200));
      expect(await admin('GET', '/fields/busy')).to.have.length(9);
      expect(await admin('GET', '/items/busy?limit=-1')).to.have.length(12);
      const same = await Promise.all(
        Array.from({ length: 5 }, () => send('POST', '/collections', { collection: 'once', schema: {} })),
      );
      expect(counts(same)).to.deep.equal([200, 400, 400, 400, 400]);
    });
  });
});

describe('/collections with several DB_SCHEMAS', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  before(async () => {
    database = await createMigratedDatabase('sdk_schemas');
    await database.query(`
      create schema shop; create schema "Odd Name";
      create table public.thing (id serial primary key, a text);
      create table shop.thing (id serial primary key, b text);
      create table shop.only_here (id serial primary key, thing int references shop.thing);
      create table "Odd Name".thing (id serial primary key, c text);
    `);
    service = await startService({ database, env: { DB_SCHEMAS: 'public,shop,Odd Name' } });
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  it('tables of the same name in two schemas are two collections', async () => {
    const all = (await requestAsAdmin(service, 'GET', '/collections')).filter((one: { meta: unknown }) => !one.meta);
    const byTable = new Map<string, string>(
      all.map((one: { collection: string; schema: { schema: string; name: string } }) => [
        `${one.schema.schema}.${one.schema.name}`,
        one.collection,
      ]),
    );
    expect([...byTable.keys()].sort()).to.deep.equal([
      'Odd Name.thing',
      'public.thing',
      'shop.only_here',
      'shop.thing',
    ]);
    expect(new Set(byTable.values()).size).to.equal(4);
    for (const [table, field] of [
      ['public.thing', 'a'],
      ['shop.thing', 'b'],
      ['Odd Name.thing', 'c'],
    ] as const) {
      const path = `/items/${encodeURIComponent(byTable.get(table) as string)}`;
      expect(await requestAsAdmin(service, 'POST', path, { [field]: 'x' })).to.deep.equal({ id: 1, [field]: 'x' });
    }
    const relation = (await requestAsAdmin(service, 'GET', '/relations/only_here/thing')) as {
      related_collection: string;
    };
    expect(relation.related_collection).to.equal(byTable.get('shop.thing'));
    const only = await requestAsAdmin(service, 'POST', '/items/only_here?fields=thing.b', { thing: 1 });
    expect(only).to.deep.equal({ thing: { b: 'x' } });
  });

  it('fields of a table outside the first schema can be created and changed', async () => {
    await requestAsAdmin(service, 'POST', '/fields/only_here', {
      field: 'extra',
      type: 'string',
      schema: { is_unique: true },
    });
    expect(await requestAsAdmin(service, 'POST', '/items/only_here?fields=extra', { extra: 'e' })).to.deep.equal({
      extra: 'e',
    });
    await requestAsAdmin(service, 'DELETE', '/collections/only_here');
    expect(await database.query(`select to_regclass('shop.only_here')::text as at`)).to.deep.equal([{ at: null }]);
  });
});

describe('/collections with two processes', () => {
  let database: FreshDatabase;
  let one: SpawnedService;
  let two: SpawnedService;
  before(async () => {
    database = await createMigratedDatabase('sdk_two');
    [one, two] = await Promise.all([spawnService({ database }), spawnService({ database })]);
  });
  after(async () => {
    await Promise.all([one?.stop(), two?.stop()]);
    await database?.drop();
  });

  it('the next request to one process sees the changes of the other', async () => {
    for (let round = 0; round < 10; round++) {
      await requestAsAdmin(one, 'POST', '/collections', {
        collection: 'shared',
        schema: {},
        fields: [{ field: 'a', type: 'string' }],
      });
      expect(await requestAsAdmin(two, 'POST', '/items/shared', { a: 'x' })).to.deep.equal({ id: 1, a: 'x' });
      await requestAsAdmin(two, 'POST', '/fields/shared', {
        field: 'b',
        type: 'integer',
        schema: { default_value: 5 },
      });
      expect(await requestAsAdmin(one, 'GET', '/items/shared'), `round ${round}`).to.deep.equal([
        { id: 1, a: 'x', b: 5 },
      ]);
      await requestAsAdmin(one, 'PATCH', '/collections/shared', { meta: { singleton: true } });
      expect(await requestAsAdmin(two, 'GET', '/items/shared'), `round ${round}`).to.deep.equal({
        id: 1,
        a: 'x',
        b: 5,
      });
      await requestAsAdmin(two, 'DELETE', '/collections/shared');
      const gone = await one.request('GET', '/items/shared', { token: one.admin.token });
      expect(gone.status, `round ${round}`).to.equal(404);
    }
  });
});
