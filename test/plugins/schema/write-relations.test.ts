import { expect } from 'chai';
import type { RelationEnd } from '../../../plugins/schema/contract.ts';
import { captureError } from '../../support/test-plugins.ts';
import { type SchemaFixture, withSchemaFixture } from './schema-fixture.ts';

type ManyToAny = Extract<RelationEnd, { kind: 'any' }>;

const SETUP = `
create table author (id serial primary key); create table post (id serial primary key, author int, editor int not null, kind text, item text, word text);
create table pair (a int, b int, primary key (a, b)); create view seen as select id, author from post;
`;
const relation = async (probe: SchemaFixture, field: string, collection = 'post') =>
  (await probe.schema.snapshot()).relations.find((one) => one.collection === collection && one.field === field);

describe('schemaWrites: relations', () => {
  it('createRelation creates a foreign key, and an index over it and the primary key', () =>
    withSchemaFixture(SETUP, async (probe, database) => {
      await probe.writes.createRelation(probe.admin, {
        collection: 'post',
        field: 'author',
        related_collection: 'author',
      });
      expect((await relation(probe, 'author'))?.schema).to.include({
        constraint_name: 'post_author_foreign',
        on_delete: 'SET NULL',
        on_update: 'NO ACTION',
      });
      expect((await relation(probe, 'author'))?.meta).to.equal(null);
      const [index] = await database.query<{ indexdef: string }>(
        `select indexdef from pg_indexes where indexname = 'post_author_index'`,
      );
      expect(index?.indexdef).to.match(/\(author, id\)$/);
      await probe.writes.createRelation(probe.admin, {
        collection: 'post',
        field: 'editor',
        related_collection: 'author',
        schema: { on_delete: 'cascade' },
      });
      expect((await relation(probe, 'editor'))?.schema).to.include({ on_delete: 'CASCADE' });
    }));

  it('createRelation rejects SET NULL for a required field, whose default is NO ACTION', () =>
    withSchemaFixture(SETUP, async (probe) => {
      const make = (schema: object | undefined) =>
        probe.writes.createRelation(probe.admin, {
          collection: 'post',
          field: 'editor',
          related_collection: 'author',
          schema,
        });
      expect(await captureError(make({ on_delete: 'SET NULL' }))).to.include({ code: 'INVALID_PAYLOAD' });
      await make(undefined);
      expect((await relation(probe, 'editor'))?.schema).to.include({ on_delete: 'NO ACTION' });
    }));

  it('updateRelation changes referential actions and meta, and deleteRelation keeps the column', () =>
    withSchemaFixture(SETUP, async (probe) => {
      const { writes, admin } = probe;
      await writes.createRelation(admin, { collection: 'post', field: 'author', related_collection: 'author' });
      await writes.createField(admin, 'author', { field: 'posts', type: 'alias', meta: { special: ['o2m'] } });
      await writes.updateRelation(admin, 'post', 'author', {
        schema: { on_delete: 'RESTRICT', on_update: 'CASCADE' },
        meta: { one_field: 'posts', one_deselect_action: 'delete' },
      });
      expect(await relation(probe, 'author')).to.deep.include({ related: 'author' });
      expect((await relation(probe, 'author'))?.schema).to.include({
        on_delete: 'RESTRICT',
        on_update: 'CASCADE',
        constraint_name: 'post_author_foreign',
      });
      expect((await relation(probe, 'author'))?.meta).to.include({
        one_field: 'posts',
        one_deselect_action: 'delete',
        one_collection: 'author',
      });
      expect((await probe.field('author', 'posts')).relation).to.include({ kind: 'many', to: 'post' });
      await writes.updateRelation(admin, 'post', 'author', { meta: { one_field: null } });
      expect((await probe.field('author', 'posts')).relation).to.equal(null);
      await writes.deleteRelation(admin, 'post', 'author');
      expect(await relation(probe, 'author')).to.equal(undefined);
      expect(await probe.field('post', 'author')).to.include({ relation: null, type: 'integer' });
      expect(await captureError(writes.deleteRelation(admin, 'post', 'author'))).to.include({
        code: 'ROUTE_NOT_FOUND',
      });
    }));

  it('updateRelation registers and alters a foreign key of the database', () =>
    withSchemaFixture(
      `${SETUP} alter table post add constraint named foreign key (author) references author`,
      async (probe) => {
        const again = probe.writes.createRelation(probe.admin, {
          collection: 'post',
          field: 'author',
          related_collection: 'author',
        });
        expect(await captureError(again)).to.include({ code: 'INVALID_PAYLOAD' });
        await probe.writes.updateRelation(probe.admin, 'post', 'author', {
          schema: { on_delete: 'CASCADE' },
          meta: { sort_field: 'editor' },
        });
        expect(await relation(probe, 'author')).to.deep.nested.include({
          'schema.constraint_name': 'named',
          'schema.on_delete': 'CASCADE',
          'meta.sort_field': 'editor',
        });
      },
    ));

  it('createRelation on a view creates no foreign key', () =>
    withSchemaFixture(SETUP, async (probe) => {
      await probe.writes.createRelation(probe.admin, {
        collection: 'seen',
        field: 'author',
        related_collection: 'author',
      });
      expect(await relation(probe, 'author', 'seen')).to.deep.include({ schema: null, related: 'author' });
      expect((await probe.field('seen', 'author')).relation).to.include({ kind: 'one', to: 'author' });
    }));

  it('createRelation rejects bad requests, and rows that refer to missing rows', () =>
    withSchemaFixture(`${SETUP} insert into post (author, editor) values (9, 9)`, async (probe) => {
      const { writes, admin } = probe;
      const any = (meta: object | undefined) => ({ collection: 'post', field: 'item', related_collection: null, meta });
      for (const input of [
        undefined,
        [],
        {},
        { collection: 'post' },
        { collection: 'post', field: 'nothing', related_collection: 'author' },
        { collection: 'nowhere', field: 'a', related_collection: 'author' },
        { collection: 'post', field: 'id', related_collection: 'author' },
        { collection: 'post', field: 'editor', related_collection: 'nowhere' },
        { collection: 'post', field: 'editor', related_collection: '__proto__' },
        { collection: 'post', field: 'editor', related_collection: 'pair' },
        { collection: 'post', field: 'word', related_collection: 'author' },
        {
          collection: 'post',
          field: 'editor',
          related_collection: 'author',
          schema: { on_delete: 'NO ACTION; drop table post' },
        },
        { collection: 'post', field: 'editor', related_collection: 'author', meta: { one_field: 'id' } },
        { collection: 'post', field: 'editor', related_collection: 'author', meta: { one_deselect_action: 'burn' } },
        { collection: 'platform_fields', field: 'collection', related_collection: 'author' },
        { collection: ['post'], field: 'editor', related_collection: 'author' },
        any(undefined),
        any({ one_collection_field: 'kind' }),
        any({ one_collection_field: 'nothing', one_allowed_collections: ['author'] }),
        any({ one_collection_field: 'kind', one_allowed_collections: ['nowhere'] }),
      ]) {
        expect(await captureError(writes.createRelation(admin, input)), JSON.stringify(input)).to.include({
          code: 'INVALID_PAYLOAD',
        });
      }
      expect(
        await captureError(
          writes.createRelation(admin, { collection: 'post', field: 'editor', related_collection: 'author' }),
        ),
      ).to.include({ code: 'INVALID_FOREIGN_KEY' });
      await writes.createRelation(
        admin,
        any({ one_collection_field: 'kind', one_allowed_collections: ['author', 'pair'] }),
      );
      // A many-to-any may refer to `pair`, which has a composite key, by the text of the key.
      expect((await probe.field('post', 'item')).relation).to.deep.include({
        kind: 'any',
        collectionField: 'kind',
        allowedCollections: ['author', 'pair'],
      } satisfies Partial<ManyToAny>);
      expect(
        await captureError(writes.updateRelation(admin, 'post', 'item', { meta: { one_allowed_collections: [] } })),
      ).to.include({ code: 'INVALID_PAYLOAD' });
      expect(
        await captureError(writes.updateRelation(admin, 'post', 'item', { related_collection: 'author' })),
      ).to.include({ code: 'INVALID_PAYLOAD' });
    }));

  it('constraints with names too long for PostgreSQL get distinct names', () =>
    withSchemaFixture('create table target (id serial primary key)', async (probe) => {
      const collection = 'c'.repeat(63);
      const fields = ['1', '2'].map((end) => `${'f'.repeat(62)}${end}`);
      await probe.writes.createCollection(probe.admin, {
        collection,
        schema: {},
        fields: fields.map((field) => ({ field, type: 'integer', schema: { is_unique: true } })),
      });
      for (const field of fields)
        await probe.writes.createRelation(probe.admin, { collection, field, related_collection: 'target' });
      expect((await probe.schema.snapshot()).relations).to.have.length(2);
    }));
});
