import { expect } from 'chai';
import { toCollectionRecord, toFieldRecord, toRelationRecord } from '../../../plugins/schema/library.ts';
import { type SchemaFixture, withSchemaFixture } from './schema-fixture.ts';

const SETUP = `
create table defaults (
  id serial primary key, word text not null default 'it''s', number int default 7, below int default -1, flag boolean default true,
  moment timestamptz default now(), nothing text default null, data jsonb default '{"a": [1]}', amount numeric(5, 2) default 1.50,
  back text default E'a\\\\b', today date default current_date, computed text default upper('x'),
  none text[] default '{}', several text[] default '{a,"b, c",null}', sizes int[] default array[1, 2], few int[] default '{1,2}', bytes bytea default '\\x00ff10'
);
create table parent (id int primary key); comment on table parent is 'All parents';
create table child (id int primary key, parent int references parent);
create view seen as select id from parent;
`;

const defaultsOf = async (probe: SchemaFixture) => {
  const snapshot = await probe.schema.snapshot();
  const fields = [...(await probe.collection('defaults')).fields.values()];
  return Object.fromEntries(fields.map((field) => [field.name, toFieldRecord(field, snapshot).schema?.default_value]));
};

describe('toCollectionRecord, toFieldRecord and toRelationRecord', () => {
  it('default_value is the value of a literal and the text of an expression', () =>
    withSchemaFixture(SETUP, async (probe) => {
      expect(await defaultsOf(probe)).to.deep.equal({
        id: "nextval('defaults_id_seq'::regclass)",
        word: "it's",
        number: 7,
        below: -1,
        flag: true,
        moment: 'now()',
        nothing: null,
        data: { a: [1] },
        amount: '1.50',
        back: 'a\\b',
        today: 'CURRENT_DATE',
        computed: "upper('x'::text)",
        none: [],
        several: ['a', 'b, c', null],
        sizes: 'ARRAY[1, 2]',
        few: [1, 2],
        bytes: 'AP8Q',
      });
    }));

  it('records have the shapes of the conventions', () =>
    withSchemaFixture(SETUP, async (probe) => {
      const snapshot = await probe.schema.snapshot();
      expect(toCollectionRecord(await probe.collection('parent'))).to.deep.equal({
        collection: 'parent',
        meta: null,
        schema: { schema: 'public', name: 'parent', comment: 'All parents' },
      });
      expect(toCollectionRecord(await probe.collection('platform_fields')).meta).to.include({
        system: true,
        singleton: false,
      });
      expect(toFieldRecord(await probe.field('child', 'parent'), snapshot)).to.deep.equal({
        collection: 'child',
        field: 'parent',
        type: 'integer',
        meta: null,
        schema: {
          name: 'parent',
          table: 'child',
          data_type: 'integer',
          default_value: null,
          generation_expression: null,
          max_length: null,
          numeric_precision: 32,
          numeric_scale: 0,
          is_generated: false,
          is_nullable: true,
          is_unique: false,
          is_indexed: false,
          is_primary_key: false,
          has_auto_increment: false,
          foreign_key_schema: 'public',
          foreign_key_table: 'parent',
          foreign_key_column: 'id',
          comment: null,
          enum_values: null,
        },
      });
      expect(snapshot.relations.map(toRelationRecord)).to.deep.equal([
        {
          collection: 'child',
          field: 'parent',
          related_collection: 'parent',
          meta: null,
          schema: {
            constraint_name: 'child_parent_fkey',
            table: 'child',
            column: 'parent',
            foreign_key_schema: 'public',
            foreign_key_table: 'parent',
            foreign_key_column: 'id',
            on_update: 'NO ACTION',
            on_delete: 'NO ACTION',
          },
        },
      ]);
    }));
});
