import { expect } from 'chai';
import { captureError } from '../../support/test-plugins.ts';
import { type SchemaFixture, withSchemaFixture } from './schema-fixture.ts';

const posts = (probe: SchemaFixture, fields: unknown[] = []) =>
  probe.writes.createCollection(probe.admin, { collection: 'posts', schema: {}, fields });
const column = async (probe: SchemaFixture, name: string) => (await probe.field('posts', name)).column;

describe('schemaWrites: fields', () => {
  it('createField creates a column of each type', () =>
    withSchemaFixture('', async (probe) => {
      await posts(probe);
      const expected = {
        string: 'character varying',
        text: 'text',
        integer: 'integer',
        bigInteger: 'bigint',
        float: 'real',
        decimal: 'numeric',
        boolean: 'boolean',
        date: 'date',
        dateTime: 'timestamp without time zone',
        timestamp: 'timestamp with time zone',
        time: 'time without time zone',
        json: 'jsonb',
        csv: 'text',
        uuid: 'uuid',
        hash: 'character varying',
        binary: 'bytea',
      };
      for (const [type, dataType] of Object.entries(expected)) {
        await probe.writes.createField(probe.admin, 'posts', { field: `f_${type}`, type });
        expect((await probe.field('posts', `f_${type}`)).type).to.equal(type);
        expect((await column(probe, `f_${type}`))?.dataType, type).to.equal(dataType);
      }
      expect(await column(probe, 'f_string')).to.include({ maxLength: 255 });
      expect(await column(probe, 'f_decimal')).to.include({ precision: 10, scale: 5 });
      expect((await probe.field('posts', 'f_hash')).concealed).to.equal(true);
    }));

  it('createField takes sizes, defaults, is_unique and is_indexed', () =>
    withSchemaFixture('', async (probe, database) => {
      await posts(probe);
      const make = (field: string, type: string, schema: object) =>
        probe.writes.createField(probe.admin, 'posts', { field, type, schema });
      await make('word', 'string', {
        max_length: 40,
        default_value: "it's \\ 'quoted'",
        is_nullable: false,
        is_unique: true,
      });
      await make('price', 'decimal', {
        numeric_precision: 8,
        numeric_scale: 2,
        default_value: '9.90',
        is_indexed: true,
      });
      await make('moment', 'timestamp', { default_value: 'now()' });
      await make('day', 'date', { default_value: 'CURRENT_TIMESTAMP' });
      await make('data', 'json', { default_value: { a: ["it's"] } });
      await make('list', 'csv', { default_value: ['a', 'b'] });
      await make('flag', 'boolean', { default_value: false, is_nullable: false });
      await make('expression', 'string', { default_value: 'now()' });
      await make('counter', 'integer', { has_auto_increment: true });
      const [row] = await database.query('insert into posts default values returning *');
      expect(row).to.deep.include({
        word: "it's \\ 'quoted'",
        price: '9.90',
        data: { a: ["it's"] },
        list: 'a,b',
        flag: false,
        expression: 'now()',
        counter: 1,
      });
      expect(await column(probe, 'word')).to.include({ maxLength: 40, nullable: false, unique: true, indexed: false });
      expect(await column(probe, 'price')).to.include({ precision: 8, scale: 2, unique: false, indexed: true });
    }));

  it('createField sorts the field after the others of its group', () =>
    withSchemaFixture('', async (probe) => {
      await posts(probe, [{ field: 'a', type: 'string' }]);
      const sortOf = async (field: string) => (await probe.field('posts', field)).meta?.sort;
      await probe.writes.createField(probe.admin, 'posts', { field: 'b', type: 'string' });
      await probe.writes.createField(probe.admin, 'posts', {
        field: 'g',
        type: 'alias',
        meta: { special: ['alias', 'no-data', 'group'] },
      });
      await probe.writes.createField(probe.admin, 'posts', { field: 'c', type: 'string', meta: { group: 'g' } });
      expect([await sortOf('b'), await sortOf('g'), await sortOf('c')]).to.deep.equal([3, 4, 1]);
    }));

  it('a field whose flags are those of an alias needs no type', () =>
    withSchemaFixture('', async (probe) => {
      await posts(probe);
      await probe.writes.createField(probe.admin, 'posts', {
        field: 'line',
        type: null,
        meta: { special: ['no-data'] },
      });
      await probe.writes.createField(probe.admin, 'posts', { field: 'other', type: 'alias' });
      expect([(await probe.field('posts', 'line')).type, (await probe.field('posts', 'other')).special]).to.deep.equal([
        'alias',
        ['alias'],
      ]);
    }));

  it('updateField changes size, nullability, uniqueness, index and default', () =>
    withSchemaFixture('', async (probe, database) => {
      await posts(probe, [{ field: 'a', type: 'string' }]);
      const change = (schema: object) => probe.writes.updateField(probe.admin, 'posts', 'a', { schema });
      await database.query(`insert into posts (a) values ('one'), (null)`);
      expect(await captureError(change({ is_nullable: false }))).to.deep.include({
        code: 'CONTAINS_NULL_VALUES',
        extensions: { collection: 'posts', field: 'a' },
      });
      await database.query(`update posts set a = 'two' where a is null`);
      await change({ is_nullable: false, is_unique: true, is_indexed: true, default_value: 'x', max_length: 10 });
      expect(await column(probe, 'a')).to.include({
        nullable: false,
        unique: true,
        indexed: true,
        default: "'x'::character varying",
        maxLength: 10,
      });
      await change({ is_nullable: true, is_unique: false, is_indexed: false, default_value: null, max_length: 300 });
      expect(await column(probe, 'a')).to.include({
        nullable: true,
        unique: false,
        indexed: false,
        default: null,
        maxLength: 300,
      });
      expect(await captureError(change({ max_length: 2 }))).to.include({ code: 'VALUE_TOO_LONG' });
      await database.query(`update posts set a = 'same'`);
      expect(await captureError(change({ is_unique: true }))).to.include({ code: 'RECORD_NOT_UNIQUE' });
    }));

  it('updateField converts values to the new type, and fails where they do not fit', () =>
    withSchemaFixture('', async (probe, database) => {
      await posts(probe, [{ field: 'a', type: 'string', schema: { default_value: '5' } }]);
      await database.query(`insert into posts (a) values ('7')`);
      const become = async (type: string) => {
        await probe.writes.updateField(probe.admin, 'posts', 'a', { type });
        const { type: now, special, column: stored } = await probe.field('posts', 'a');
        return [
          now,
          special.join(),
          stored?.default,
          (await database.query<{ a: unknown }>('select a from posts'))[0]?.a,
        ];
      };
      expect(await become('integer')).to.deep.equal(['integer', '', '5', 7]);
      expect(await become('text')).to.deep.equal(['text', '', "'5'::text", '7']);
      expect(await become('csv')).to.deep.equal(['csv', 'cast-csv', "'5'::text", '7']);
      await probe.writes.updateField(probe.admin, 'posts', 'a', { schema: { default_value: null } });
      expect(await become('string')).to.deep.equal(['string', '', null, '7']);
      expect(await become('json')).to.deep.equal(['json', 'cast-json', null, 7]);
      expect(await become('text')).to.deep.equal(['text', '', null, '7']);
      await database.query(`update posts set a = 'seven'`);
      expect(await captureError(become('integer'))).to.include({ code: 'INVALID_PAYLOAD' });
      expect(await captureError(become('alias'))).to.include({ code: 'INVALID_PAYLOAD' });
    }));

  it('updateField with the record as it was read changes nothing', () =>
    withSchemaFixture(
      `create type mood as enum ('a', 'b');
      create table posts (id serial primary key, w varchar(7) not null default 'x', n numeric(4, 1) default 1.5, m mood default 'a', t timestamptz default now(),
        l text[] default '{}', g int generated always as (1 + 1) stored, i bigint generated always as identity, j json default '[]', r inet)`,
      async (probe) => {
        const { toFieldRecord } = await import('../../../plugins/schema/library.ts');
        const before = await probe.schema.snapshot();
        for (const field of before.collections.get('posts')?.fields.values() ?? []) {
          const { type, schema } = toFieldRecord(field, before);
          await probe.writes.updateField(probe.admin, 'posts', field.name, { field: field.name, type, schema });
        }
        expect((await probe.schema.snapshot()).version).to.equal(before.version);
      },
    ));

  it('updateField creates, changes and deletes the registry row of a column', () =>
    withSchemaFixture('create table posts (id int primary key, a text)', async (probe) => {
      const change = (meta: unknown) => probe.writes.updateField(probe.admin, 'posts', 'a', { meta });
      await change({ note: 'n', special: ['cast-csv'], options: { x: [1] }, validation: { a: { _nnull: true } } });
      expect(await probe.field('posts', 'a')).to.include({ type: 'csv' });
      expect((await probe.field('posts', 'a')).meta).to.deep.include({
        note: 'n',
        options: { x: [1] },
        validation: { a: { _nnull: true } },
        width: 'full',
      });
      await change({ note: null, searchable: false });
      expect((await probe.field('posts', 'a')).meta).to.deep.include({
        note: null,
        searchable: false,
        special: ['cast-csv'],
      });
      await change(null);
      expect(await probe.field('posts', 'a')).to.include({ type: 'text', meta: null });
      for (const meta of [{ special: ['o2m'] }, { validation: [] }, { validation: 'x' }, 7, [], { hidden: 'yes' }]) {
        expect(await captureError(change(meta)), JSON.stringify(meta)).to.include({ code: 'INVALID_PAYLOAD' });
      }
    }));

  it('a change that is impossible fails with INVALID_PAYLOAD, and one of an unknown name with ROUTE_NOT_FOUND', () =>
    withSchemaFixture(
      'create table old (id serial primary key, a int, g int generated always as (1) stored, v tsvector); create view seen as select a from old',
      async (probe) => {
        const { writes, admin } = probe;
        for (const refused of [
          () => writes.createField(admin, 'old', { field: 'a', type: 'string' }),
          () => writes.createField(admin, 'old', { field: 'v', type: 'string' }),
          () => writes.createField(admin, 'old', { field: 'ctid', type: 'string' }),
          () => writes.createField(admin, 'old', { field: 'b', type: 'integer', schema: { is_primary_key: true } }),
          () => writes.createField(admin, 'seen', { field: 'b', type: 'integer' }),
          () => writes.updateField(admin, 'old', 'id', { schema: { is_nullable: true } }),
          () => writes.updateField(admin, 'old', 'id', { schema: { is_primary_key: false } }),
          () => writes.updateField(admin, 'old', 'a', { schema: { is_primary_key: true } }),
          () => writes.updateField(admin, 'old', 'a', { schema: { has_auto_increment: true } }),
          () => writes.updateField(admin, 'old', 'a', { field: 'b' }),
          () => writes.updateField(admin, 'old', 'a', { type: 'text' }),
          () => writes.updateField(admin, 'old', 'g', { schema: { default_value: 3 } }),
          () => writes.updateField(admin, 'seen', 'a', { schema: { is_nullable: false } }),
          () => writes.deleteField(admin, 'old', 'id'),
          () => writes.deleteField(admin, 'old', 'a'),
          () => writes.deleteField(admin, 'seen', 'a'),
          () => writes.updateField(admin, 'old', 'a', []),
        ]) {
          expect(await captureError(refused)).to.include({ code: 'INVALID_PAYLOAD' });
        }
        for (const absent of [
          () => writes.createField(admin, 'nowhere', { field: 'a', type: 'string' }),
          () => writes.updateField(admin, 'old', 'nothing', {}),
          () => writes.deleteField(admin, 'old', '__proto__'),
          () => writes.deleteField(admin, 'constructor', 'a'),
        ]) {
          expect(await captureError(absent)).to.include({ code: 'ROUTE_NOT_FOUND' });
        }
        await writes.createField(admin, 'seen', { field: 'line', type: 'alias', meta: { special: ['no-data'] } });
        expect((await probe.field('seen', 'line')).type).to.equal('alias');
      },
    ));

  it('createField of a required field without default fails with CONTAINS_NULL_VALUES where the table has rows', () =>
    withSchemaFixture('', async (probe, database) => {
      await posts(probe);
      await database.query('insert into posts default values');
      const adding = probe.writes.createField(probe.admin, 'posts', {
        field: 'a',
        type: 'string',
        schema: { is_nullable: false },
      });
      expect(await captureError(adding)).to.deep.include({
        code: 'CONTAINS_NULL_VALUES',
        extensions: { collection: 'posts', field: 'a' },
      });
    }));

  it('deleteField removes every reference to the field', () =>
    withSchemaFixture('', async (probe, database) => {
      const { writes, admin } = probe;
      await posts(probe, [
        { field: 'outer', type: 'alias', meta: { special: ['group', 'alias', 'no-data'] } },
        { field: 'box', type: 'alias', meta: { special: ['group', 'alias', 'no-data'], group: 'outer' } },
        { field: 'pos', type: 'integer', meta: { group: 'box' } },
        { field: 'state', type: 'string' },
        { field: 'parent', type: 'integer' },
      ]);
      await writes.updateCollection(admin, 'posts', {
        meta: {
          sort_field: 'pos',
          archive_field: 'state',
          archive_value: 'old',
          item_duplication_fields: ['state', 'pos', 'parent.id'],
        },
      });
      await writes.createField(admin, 'posts', { field: 'children', type: 'alias', meta: { special: ['o2m'] } });
      await writes.createRelation(admin, {
        collection: 'posts',
        field: 'parent',
        related_collection: 'posts',
        meta: { one_field: 'children', sort_field: 'pos' },
      });
      await writes.deleteField(admin, 'posts', 'box');
      expect((await probe.field('posts', 'pos')).meta?.group).to.equal('outer');
      await writes.deleteField(admin, 'posts', 'pos');
      await writes.deleteField(admin, 'posts', 'state');
      expect((await probe.collection('posts')).meta).to.deep.include({
        sort_field: null,
        archive_field: null,
        archive_value: null,
        item_duplication_fields: ['parent.id'],
      });
      expect((await probe.schema.snapshot()).relations[0]?.meta).to.include({
        sort_field: null,
        one_field: 'children',
      });
      await writes.deleteField(admin, 'posts', 'parent');
      expect([...(await probe.collection('posts')).fields.keys()]).to.deep.equal(['id', 'outer']);
      expect((await probe.schema.snapshot()).relations).to.deep.equal([]);
      expect(await database.query('select field from platform_fields order by id')).to.deep.equal([
        { field: 'id' },
        { field: 'outer' },
      ]);
    }));

  it('deleteField of an alias keeps its relation', () =>
    withSchemaFixture('', async (probe) => {
      const { writes, admin } = probe;
      await posts(probe, [{ field: 'parent', type: 'integer' }]);
      await writes.createField(admin, 'posts', { field: 'children', type: 'alias', meta: { special: ['o2m'] } });
      await writes.createRelation(admin, {
        collection: 'posts',
        field: 'parent',
        related_collection: 'posts',
        meta: { one_field: 'children' },
      });
      await writes.deleteField(admin, 'posts', 'children');
      expect((await probe.field('posts', 'parent')).relation).to.include({ kind: 'one', to: 'posts' });
      expect((await probe.schema.snapshot()).relations[0]?.meta?.one_field).to.equal(null);
    }));
});
