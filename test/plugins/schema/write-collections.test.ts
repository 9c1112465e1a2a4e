import { expect } from 'chai';
import type { RelationEnd } from '../../../plugins/schema/contract.ts';
import { publicCaller } from '../../support/caller.ts';
import { captureError } from '../../support/test-plugins.ts';
import { type SchemaFixture, withSchemaFixture } from './schema-fixture.ts';

type ManyToAny = Extract<RelationEnd, { kind: 'any' }>;

const names = async (probe: SchemaFixture, collection: string) => [
  ...(await probe.collection(collection)).fields.keys(),
];

describe('schemaWrites: collections', () => {
  it('createCollection creates a table with an auto-increment id first, and registers it with its fields', () =>
    withSchemaFixture('', async (probe, database) => {
      const fields = [
        { field: 'title', type: 'string' },
        { field: 'note', type: 'alias', meta: { special: ['alias', 'no-data'] } },
      ];
      expect(
        await probe.writes.createCollection(probe.admin, {
          collection: 'posts',
          schema: {},
          fields,
          meta: { icon: 'x', nonsense: 1 },
        }),
      ).to.equal('posts');
      expect(await probe.collection('posts')).to.deep.include({ primary: 'id', kind: 'table', system: false });
      expect((await probe.collection('posts')).meta).to.include({
        icon: 'x',
        accountability: 'all',
        collapse: 'open',
        hidden: false,
      });
      expect((await probe.field('posts', 'id')).column).to.include({
        autoIncrement: true,
        dataType: 'integer',
        default: "nextval('posts_id_seq'::regclass)",
      });
      const metas = [...(await probe.collection('posts')).fields.values()].map(({ name, meta, type }) => [
        name,
        type,
        meta?.sort,
      ]);
      expect(metas).to.deep.equal([
        ['id', 'integer', 1],
        ['title', 'string', 2],
        ['note', 'alias', 3],
      ]);
      await database.query('insert into posts (title) values ($1)', ['a']);
    }));

  it('createCollection takes a primary key of the request', () =>
    withSchemaFixture('', async (probe) => {
      const key = (type: string) => ({
        field: 'key',
        type,
        schema: { is_primary_key: true },
        meta: { special: type === 'uuid' ? ['uuid'] : null },
      });
      for (const type of ['uuid', 'string', 'bigInteger']) {
        await probe.writes.createCollection(probe.admin, {
          collection: `by_${type}`,
          schema: {},
          fields: [{ field: 'a', type: 'text' }, key(type)],
        });
        expect((await probe.collection(`by_${type}`)).primary).to.equal('key');
        expect(await names(probe, `by_${type}`)).to.deep.equal(['a', 'key']);
      }
    }));

  it('createCollection creates folders, which take no fields', () =>
    withSchemaFixture('', async (probe) => {
      await probe.writes.createCollection(probe.admin, { collection: 'folder', meta: { note: 'a folder' } });
      await probe.writes.createCollection(probe.admin, { collection: 'inside', schema: {}, meta: { group: 'folder' } });
      expect(await probe.collection('folder')).to.include({ kind: 'folder', table: null, primary: null });
      expect(
        await captureError(probe.writes.createField(probe.admin, 'folder', { field: 'a', type: 'string' })),
      ).to.include({ code: 'INVALID_PAYLOAD' });
      expect(
        await captureError(
          probe.writes.createCollection(probe.admin, {
            collection: 'f',
            schema: null,
            fields: [{ field: 'a', type: 'string' }],
          }),
        ),
      ).to.include({ code: 'INVALID_PAYLOAD' });
      await probe.writes.deleteCollection(probe.admin, 'folder');
      expect((await probe.collection('inside')).meta?.group).to.equal(null);
    }));

  it('updateCollection registers an existing table, changes its meta, and unregisters it', () =>
    withSchemaFixture('create table old (id int primary key, pos int)', async (probe) => {
      expect((await probe.collection('old')).meta).to.equal(null);
      await probe.writes.updateCollection(probe.admin, 'old', {
        meta: { singleton: true, sort_field: 'pos', translations: [{ language: 'de-DE' }] },
      });
      expect(await probe.collection('old')).to.include({ singleton: true, sortField: 'pos' });
      await probe.writes.updateCollection(probe.admin, 'old', { meta: { singleton: false } });
      expect((await probe.collection('old')).meta).to.deep.include({
        singleton: false,
        sort_field: 'pos',
        translations: [{ language: 'de-DE' }],
      });
      await probe.writes.updateCollection(probe.admin, 'old', { meta: null });
      expect(await probe.collection('old')).to.include({ meta: null, singleton: false });
    }));

  it('createCollection rejects bad names and payloads, and writes nothing', () =>
    withSchemaFixture(
      'create table taken (id int primary key); create view looked as select 1 as a; create sequence counting',
      async (probe, database) => {
        const before = await probe.schema.snapshot();
        const bad = [
          '',
          ' ',
          ' a',
          'a ',
          'a/b',
          'a\\b',
          'a.b',
          'a"b',
          "a'b",
          'a`b',
          'a\0b',
          'a\nb',
          '$a',
          '_and',
          '__proto__',
          'constructor',
          'a:b',
          'a,b',
          'a*',
          'platform_x',
          'PLATFORM_x',
          'x'.repeat(64),
          'é'.repeat(32),
          '\ud800',
          'taken',
          'looked',
          'counting',
          7,
          null,
          undefined,
          {},
          ['a'],
        ];
        for (const collection of bad) {
          const failure = await captureError(probe.writes.createCollection(probe.admin, { collection, schema: {} }));
          expect(failure, JSON.stringify(collection)).to.include({ code: 'INVALID_PAYLOAD' });
        }
        const fields: unknown[] = [
          [{ field: 'a' }],
          [{ field: 'a', type: 'nonsense' }],
          [{ field: 'a', type: 'unknown' }],
          [{ field: 'a', type: '__proto__' }],
          [{ type: 'string' }],
          [
            { field: 'a', type: 'string' },
            { field: 'a', type: 'text' },
          ],
          [{ field: 'id', type: 'string' }],
          [7],
          'a',
          {},
          [
            { field: 'a', type: 'uuid', schema: { is_primary_key: true } },
            { field: 'b', type: 'uuid', schema: { is_primary_key: true } },
          ],
          [{ field: 'a', type: 'text', schema: { is_primary_key: true } }],
          [{ field: 'a', type: 'string', schema: { max_length: 0 } }],
          [{ field: 'a', type: 'string', schema: { max_length: '1); drop table taken; --' } }],
          [{ field: 'a', type: 'integer', schema: { default_value: '1); drop table taken; --' } }],
          [{ field: 'a', type: 'decimal', schema: { numeric_precision: 5000 } }],
          [{ field: 'a', type: 'string', schema: { has_auto_increment: true } }],
          [{ field: 'a', type: 'geometry' }],
          [{ field: 'a', type: 'string', meta: { special: ['o2m'] } }],
          [{ field: 'a', type: 'date', schema: { default_value: 'yesterweek' } }],
          [{ field: 'a', type: 'string', meta: { sort: 1.5 } }],
          [{ field: 'a', type: 'string', meta: { options: 'x\0' } }],
          [{ field: 'a', type: 'string', meta: 7 }],
          [{ field: 'a', type: 'string', schema: { default_value: 'x\0' } }],
          [{ field: 'a', type: 'string', schema: { is_nullable: 'no' } }],
        ];
        for (const list of fields) {
          const failure = await captureError(
            probe.writes.createCollection(probe.admin, { collection: 'bad', schema: {}, fields: list }),
          );
          expect(failure, JSON.stringify(list)).to.include({ code: 'INVALID_PAYLOAD' });
        }
        for (const input of [
          undefined,
          null,
          7,
          'a',
          [],
          { schema: {} },
          { collection: 'bad', meta: null },
          { collection: 'bad', schema: 7 },
          { collection: 'bad', schema: {}, meta: { accountability: 'none' } },
        ]) {
          expect(
            await captureError(probe.writes.createCollection(probe.admin, input)),
            JSON.stringify(input),
          ).to.include({
            code: 'INVALID_PAYLOAD',
          });
        }
        expect(
          await captureError(
            probe.writes.createCollection(probe.admin, {
              collection: 'bad',
              schema: {},
              meta: { color: 'x'.repeat(256) },
            }),
          ),
        ).to.include({ code: 'VALUE_TOO_LONG' });
        expect(await captureError(probe.writes.updateCollection(probe.admin, 'nowhere', { meta: {} }))).to.include({
          code: 'ROUTE_NOT_FOUND',
        });
        expect(await captureError(probe.writes.deleteCollection(probe.admin, 'looked'))).to.include({
          code: 'INVALID_PAYLOAD',
        });
        expect(await probe.schema.refresh()).to.equal(before);
        expect(
          await database.query(
            'select collection from platform_collections union all select collection from platform_fields',
          ),
        ).to.deep.equal([]);
      },
    ));

  it('every change fails with FORBIDDEN for a caller that is not an admin', () =>
    withSchemaFixture('create table a (id int primary key, b int)', async (probe) => {
      const caller = publicCaller();
      const { writes } = probe;
      for (const refused of [
        () => writes.createCollection(caller, { collection: 'x', schema: {} }),
        () => writes.updateCollection(caller, 'a', {}),
        () => writes.deleteCollection(caller, 'a'),
        () => writes.createField(caller, 'a', {}),
        () => writes.updateField(caller, 'a', 'b', {}),
        () => writes.deleteField(caller, 'a', 'b'),
        () => writes.createRelation(caller, {}),
        () => writes.updateRelation(caller, 'a', 'b', {}),
        () => writes.deleteRelation(caller, 'a', 'b'),
      ]) {
        expect(await captureError(refused)).to.include({ code: 'FORBIDDEN' });
      }
    }));

  it('deleteCollection drops the table and the fields that refer to it', () =>
    withSchemaFixture('create table before (id int primary key)', async (probe, database) => {
      const { writes, admin } = probe;
      await writes.createCollection(admin, { collection: 'authors', schema: {} });
      await writes.createCollection(admin, {
        collection: 'posts',
        schema: {},
        fields: [
          { field: 'author', type: 'integer' },
          { field: 'title', type: 'string' },
        ],
      });
      await writes.createRelation(admin, {
        collection: 'posts',
        field: 'author',
        related_collection: 'authors',
        meta: { one_field: 'posts' },
      });
      await writes.createField(admin, 'authors', { field: 'posts', type: 'alias', meta: { special: ['o2m'] } });
      await writes.createCollection(admin, {
        collection: 'blocks',
        schema: {},
        fields: [
          { field: 'item', type: 'string' },
          { field: 'kind', type: 'string' },
        ],
      });
      await writes.createRelation(admin, {
        collection: 'blocks',
        field: 'item',
        related_collection: null,
        meta: { one_collection_field: 'kind', one_allowed_collections: ['authors', 'before'] },
      });
      await database.query(
        'create table unserved (a int, b int references authors (id), primary key (a, b)); insert into authors values (1); insert into posts values (1, 1)',
      );
      expect((await probe.field('blocks', 'item')).relation).to.deep.include({
        kind: 'any',
        collectionField: 'kind',
        allowedCollections: ['authors', 'before'],
      } satisfies Partial<ManyToAny>);

      await writes.deleteCollection(admin, 'authors');
      expect((await probe.schema.snapshot()).collections.has('authors')).to.equal(false);
      expect(await names(probe, 'posts')).to.deep.equal(['id', 'title']);
      expect((await probe.field('blocks', 'item')).relation).to.deep.include({
        kind: 'any',
        allowedCollections: ['before'],
      } satisfies Partial<ManyToAny>);
      expect(await database.query('select id from posts')).to.deep.equal([{ id: 1 }]);
      expect(await database.query(`select many_collection from platform_relations`)).to.deep.equal([
        { many_collection: 'blocks' },
      ]);
      expect(await database.query(`select 1 from platform_fields where collection = 'authors'`)).to.deep.equal([]);
      expect(await captureError(writes.deleteCollection(admin, 'authors'))).to.include({ code: 'ROUTE_NOT_FOUND' });
    }));

  it('deleteCollection of a junction deletes the aliases on both sides', () =>
    withSchemaFixture('', async (probe) => {
      const { writes, admin } = probe;
      await writes.transaction(async () => {
        for (const collection of ['posts', 'tags']) await writes.createCollection(admin, { collection, schema: {} });
        await writes.createCollection(admin, {
          collection: 'posts_tags',
          schema: {},
          fields: [
            { field: 'post', type: 'integer' },
            { field: 'tag', type: 'integer' },
          ],
        });
        await writes.createField(admin, 'posts', { field: 'tags', type: 'alias', meta: { special: ['m2m'] } });
        await writes.createRelation(admin, {
          collection: 'posts_tags',
          field: 'post',
          related_collection: 'posts',
          meta: { one_field: 'tags', junction_field: 'tag' },
        });
        await writes.createRelation(admin, {
          collection: 'posts_tags',
          field: 'tag',
          related_collection: 'tags',
          meta: { junction_field: 'post' },
        });
      });
      expect((await probe.field('posts', 'tags')).relation).to.include({ kind: 'many', to: 'posts_tags' });
      await writes.deleteCollection(admin, 'posts_tags');
      expect(await names(probe, 'posts')).to.deep.equal(['id']);
      expect((await probe.schema.snapshot()).relations).to.deep.equal([]);
    }));

  it('a unit of several changes is written as a whole or not at all', () =>
    withSchemaFixture('', async (probe, database) => {
      const { writes, admin } = probe;
      const before = await probe.schema.snapshot();
      const work = writes.transaction(async () => {
        await writes.createCollection(admin, { collection: 'a', schema: {} });
        await writes.createField(admin, 'a', { field: 'b', type: 'string' });
        await writes.createCollection(admin, { collection: 'a', schema: {} });
      });
      expect(await captureError(work)).to.include({ code: 'INVALID_PAYLOAD' });
      expect(await probe.schema.refresh()).to.equal(before);
      expect(await database.query('select 1 from platform_fields')).to.deep.equal([]);
    }));

  it('one of five concurrent requests for the same collection creates it', () =>
    withSchemaFixture('', async (probe) => {
      const tries = Array.from({ length: 5 }, () =>
        probe.writes.createCollection(probe.admin, { collection: 'same', schema: {} }).then(
          () => 'made',
          ({ code }) => code,
        ),
      );
      expect((await Promise.all(tries)).sort()).to.deep.equal([
        'INVALID_PAYLOAD',
        'INVALID_PAYLOAD',
        'INVALID_PAYLOAD',
        'INVALID_PAYLOAD',
        'made',
      ]);
    }));

  it('filters run inside the unit of work and may reject it, and actions run after it', async () => {
    const calls: string[] = [];
    let refuse = false;
    await withSchemaFixture(
      '',
      async (probe) => {
        const { writes, admin } = probe;
        await writes.createCollection(admin, {
          collection: 'a',
          schema: {},
          fields: [{ field: 'b', type: 'integer' }],
        });
        await writes.createRelation(admin, { collection: 'a', field: 'b', related_collection: 'a' });
        refuse = true;
        expect(await captureError(writes.deleteCollection(admin, 'a'))).to.include({ message: 'not this one' });
        expect((await probe.schema.refresh()).collections.has('a')).to.equal(true);
        refuse = false;
        await writes.deleteField(admin, 'a', 'b');
        await writes.deleteCollection(admin, 'a');
        expect(calls).to.deep.equal([
          'filter collections.create platform_collections undefined',
          'action collections.create platform_collections a',
          'filter relations.create undefined undefined',
          'action relations.create a b',
          'filter collections.delete platform_collections a',
          'filter fields.delete a b',
          'action fields.delete a b',
          'filter collections.delete platform_collections a',
          'action collections.delete platform_collections a',
        ]);
      },
      {
        register({ events }) {
          for (const name of ['collections.create', 'relations.create', 'fields.delete', 'collections.delete']) {
            events.onFilter(name, (_payload, { event, collection, keys }) => {
              calls.push(`filter ${event} ${collection} ${keys}`);
              if (refuse) throw new Error('not this one');
            });
            events.onAction(
              name,
              ({ event, collection, keys }) => void calls.push(`action ${event} ${collection} ${keys}`),
            );
          }
        },
      },
    );
  });
});
