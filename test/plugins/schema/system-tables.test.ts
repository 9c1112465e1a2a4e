import { expect } from 'chai';
import { type SystemCollection, systemCollections } from '../../../plugins/schema/contract.ts';
import { createSystemTablesMigration } from '../../../plugins/schema/system/system-tables-migration.ts';
import { freshDatabase } from '../../support/database.ts';
import { captureError } from '../../support/test-plugins.ts';
import { type SchemaFixtureOptions, startSchemaFixture, withSchemaFixture } from './schema-fixture.ts';

const owners: SystemCollection = {
  collection: 'platform_owners',
  note: 'Who owns',
  fields: [
    { field: 'id', type: 'uuid', primary: true, special: ['uuid'] },
    { field: 'email', type: 'string', maxLength: 128, nullable: true, unique: true, caseInsensitive: true },
    { field: 'secret', type: 'hash', special: ['hash', 'conceal'], nullable: true, sensitive: true },
    { field: 'tags', type: 'csv', special: ['cast-csv'], nullable: true },
    { field: 'status', type: 'string', default: "'active'" },
    { field: 'data', type: 'json', nullable: true, searchable: false },
  ],
};
const things: SystemCollection = {
  collection: 'platform_things',
  note: 'What is owned',
  fields: [
    { field: 'id', type: 'integer', primary: true, autoIncrement: true },
    { field: 'name', type: 'string' },
    {
      field: 'owner',
      type: 'uuid',
      nullable: true,
      references: { collection: 'platform_owners', onDelete: 'CASCADE', alias: 'things' },
    },
  ],
  unique: [['name', 'owner']],
};
const inner: SystemCollection = {
  collection: 'platform_inner',
  note: 'Internal',
  internal: true,
  fields: [{ field: 'token', type: 'string', primary: true }],
};

const declaring = (...all: SystemCollection[]): SchemaFixtureOptions => ({
  contributes: { 'schema.system': { collections: all.map(({ collection }) => collection) } },
  register: (host) => {
    for (const one of all) host.contribute(systemCollections, one);
  },
});

describe('createSystemTablesMigration', () => {
  it('the migration sends the statements of all tables in one message, and those of foreign keys in another', async () => {
    const messages: string[] = [];
    const db = {
      schemas: ['public'],
      async query(text: string) {
        messages.push(text);
        return { rows: [], count: 0 };
      },
    };
    const all = new Map([owners, things, inner].map((one) => [one.collection, one]));
    await createSystemTablesMigration(() => all).up(db as never);
    const [lookup, tables, constraints, references, ...more] = messages;
    expect(lookup).to.match(/^select /);
    expect(tables?.match(/^create table /gm)).to.have.length(3);
    expect(constraints).to.match(/^select /);
    expect(references).to.match(/^alter table "public"."platform_things" add constraint /);
    expect(more).to.deep.equal([]);
  });
});

describe('system collections', () => {
  it('a declaration creates a table with key, defaults, unique indexes, foreign keys and indexes', () =>
    withSchemaFixture(
      '',
      async (_probe, database) => {
        const [first] = await database.query<{ id: string }>(
          `insert into platform_owners (email) values ('Ann@example.com') returning *`,
        );
        expect(first).to.include({ status: 'active' });
        expect(first?.id).to.match(/^[0-9a-f-]{36}$/);
        expect(
          await captureError(database.query(`insert into platform_owners (email) values ('ann@EXAMPLE.com')`)),
        ).to.include({ code: '23505' });
        await database.query('insert into platform_things (name, owner) values ($1, $2)', ['a', first?.id]);
        expect(
          await captureError(
            database.query('insert into platform_things (name, owner) values ($1, $2)', ['a', first?.id]),
          ),
        ).to.include({ code: '23505' });
        expect(await captureError(database.query('insert into platform_things (owner) values (null)'))).to.include({
          code: '23502',
        });
        await database.query('delete from platform_owners');
        expect(await database.query('select * from platform_things')).to.deep.equal([]);
        const indexes = await database.query<{ indexdef: string }>(
          `select indexdef from pg_indexes where tablename = 'platform_things'`,
        );
        expect(indexes.map(({ indexdef }) => indexdef.replace(/.*using btree /i, ''))).to.include('(owner, id)');
      },
      declaring(things, owners),
    ));

  it('a system collection has the meta and field types of its declaration', () =>
    withSchemaFixture(
      '',
      async (probe) => {
        const collection = await probe.collection('platform_owners');
        expect(collection).to.include({ system: true, kind: 'table', primary: 'id', singleton: false });
        expect(collection.meta).to.include({ note: 'Who owns', system: true });
        expect(await probe.field('platform_owners', 'email')).to.deep.include({ type: 'string', sensitive: false });
        expect((await probe.field('platform_owners', 'email')).column?.unique).to.equal(true);
        expect(await probe.field('platform_owners', 'secret')).to.include({
          type: 'hash',
          concealed: true,
          sensitive: true,
        });
        expect((await probe.field('platform_owners', 'data')).meta).to.include({ searchable: false, system: true });
        expect((await probe.field('platform_owners', 'status')).meta).to.include({ required: false });
        expect((await probe.field('platform_things', 'name')).meta).to.include({ required: true });
        expect((await probe.field('platform_owners', 'things')).relation).to.include({
          kind: 'many',
          to: 'platform_things',
        });
        expect((await probe.field('platform_things', 'owner')).relation).to.include({
          kind: 'one',
          to: 'platform_owners',
        });
        expect((await probe.schema.snapshot()).collections.has('platform_inner')).to.equal(false);
      },
      declaring(owners, things, inner),
    ));

  it('a declaration may have relations without a foreign key, more indexes, and an accountability', async () => {
    const log: SystemCollection = {
      collection: 'platform_log',
      note: 'What happened to things',
      accountability: null,
      fields: [
        { field: 'id', type: 'integer', primary: true, autoIncrement: true },
        {
          field: 'thing',
          type: 'integer',
          references: { collection: 'platform_things', constraint: false, alias: 'log' },
        },
        {
          field: 'gone',
          type: 'integer',
          nullable: true,
          references: { collection: 'platform_undeclared', constraint: false },
        },
        { field: 'text', type: 'string', default: "''" },
      ],
      indexes: [['thing', 'text'], ['text']],
    };
    await withSchemaFixture(
      '',
      async (probe, database) => {
        await database.query('insert into platform_log (thing) values (77)');
        const indexes = await database.query<{ indexdef: string }>(
          `select indexdef from pg_indexes where tablename = 'platform_log' order by indexname`,
        );
        expect(indexes.map(({ indexdef }) => indexdef.replace(/.*using btree /i, ''))).to.deep.equal([
          '(id)',
          '(text)',
          '(thing, id)',
          '(thing, text)',
        ]);
        const { relation } = await probe.field('platform_log', 'thing');
        expect(relation).to.include({ kind: 'one', to: 'platform_things' });
        expect(relation?.relation).to.deep.include({ schema: null, related: 'platform_things' });
        expect((await probe.field('platform_things', 'log')).relation).to.include({ kind: 'many', to: 'platform_log' });
        expect((await probe.field('platform_log', 'gone')).relation).to.equal(null);
        expect((await probe.collection('platform_log')).meta?.accountability).to.equal(null);
        expect((await probe.collection('platform_things')).meta?.accountability).to.equal('all');
      },
      declaring(owners, things, log),
    );
  });

  it('a table is extended when its declaration changes, and left alone when not', async () => {
    const database = await freshDatabase('extended');
    try {
      await (await startSchemaFixture(database, declaring(owners, things))).stop();
      await (await startSchemaFixture(database, declaring(owners, things))).stop();
      const steps = `select id from platform_migrations where id like 'system-collections-%'`;
      expect(await database.query(steps)).to.have.length(1);
      const more = { ...owners, fields: [...owners.fields, { field: 'age', type: 'integer', default: '3' } as const] };
      const probe = await startSchemaFixture(database, declaring(more, things));
      expect((await probe.field('platform_owners', 'age')).column).to.include({ nullable: false, default: '3' });
      await probe.stop();
      expect(await database.query(steps)).to.have.length(2);
    } finally {
      await database.drop();
    }
  });

  it('a table loses the foreign key that its declaration no longer has, and keeps its rows', async () => {
    const database = await freshDatabase('unconstrained');
    try {
      await (await startSchemaFixture(database, declaring(owners, things))).stop();
      const constraints = `select conname from pg_constraint where contype = 'f' and conrelid = 'platform_things'::regclass`;
      expect(await database.query(constraints)).not.to.deep.equal([]);
      await database.query(
        `insert into platform_owners default values; insert into platform_things (name, owner) select 'a', id from platform_owners`,
      );
      const unconstrained = things.fields.map((field) =>
        field.references
          ? { ...field, references: { collection: 'platform_owners', constraint: false, alias: 'things' } as const }
          : field,
      );
      const probe = await startSchemaFixture(database, declaring(owners, { ...things, fields: unconstrained }));
      expect(await database.query(constraints)).to.deep.equal([]);
      expect((await probe.field('platform_owners', 'things')).relation).to.include({
        kind: 'many',
        to: 'platform_things',
      });
      expect(await database.query('select from platform_things')).to.have.length(1);
      await probe.stop();
    } finally {
      await database.drop();
    }
  });

  it('the migration never changes a table of another program, and fails on one with the name of a system collection', async () => {
    const database = await freshDatabase('foreign');
    try {
      await database.query(
        'create table platform_fields (mine int); create table users (id int primary key); insert into users values (1)',
      );
      const failure = await captureError(startSchemaFixture(database));
      expect(failure.message).to.contain('platform_fields').and.to.contain('not created by this service');
      expect(
        await database.query(`select column_name from information_schema.columns where table_name = 'platform_fields'`),
      ).to.deep.equal([{ column_name: 'mine' }]);
      await database.query('drop table platform_fields');
      const shape = `select table_name, column_name, data_type, column_default, is_nullable from information_schema.columns
        where table_schema = 'public' and table_name not like 'platform%' order by 1, 2`;
      const before = await database.query(shape);
      await (await startSchemaFixture(database)).stop();
      expect(await database.query(shape)).to.deep.equal(before);
    } finally {
      await database.drop();
    }
  });

  it('the boot fails on a reference to a collection that no plugin declares', async () => {
    const database = await freshDatabase('undeclared');
    try {
      expect((await captureError(startSchemaFixture(database, declaring(things)))).message).to.contain(
        'platform_owners, which no plugin declares',
      );
    } finally {
      await database.drop();
    }
  });

  it('a system collection takes custom fields, and refuses changes of its own fields but for an index', () =>
    withSchemaFixture(
      '',
      async (probe) => {
        await probe.writes.createField(probe.admin, 'platform_owners', { field: 'nick', type: 'string' });
        expect((await probe.field('platform_owners', 'nick')).meta).not.to.have.property('system');
        await probe.writes.updateField(probe.admin, 'platform_owners', 'nick', { schema: { is_unique: true } });
        await probe.writes.deleteField(probe.admin, 'platform_owners', 'nick');
        await probe.writes.updateField(probe.admin, 'platform_owners', 'status', { schema: { is_indexed: true } });
        expect((await probe.field('platform_owners', 'status')).column?.indexed).to.equal(true);
        for (const refused of [
          () => probe.writes.updateField(probe.admin, 'platform_owners', 'status', { schema: { is_nullable: true } }),
          () => probe.writes.updateField(probe.admin, 'platform_owners', 'status', { meta: { hidden: true } }),
          () => probe.writes.deleteField(probe.admin, 'platform_owners', 'status'),
          () => probe.writes.deleteField(probe.admin, 'platform_owners', 'things'),
          () => probe.writes.deleteCollection(probe.admin, 'platform_owners'),
          () => probe.writes.updateCollection(probe.admin, 'platform_owners', { meta: { hidden: true } }),
          () => probe.writes.deleteRelation(probe.admin, 'platform_things', 'owner'),
          () => probe.writes.createCollection(probe.admin, { collection: 'platform_mine', schema: {} }),
        ]) {
          expect(await captureError(refused)).to.include({ code: 'INVALID_PAYLOAD' });
        }
      },
      declaring(owners, things),
    ));
});
