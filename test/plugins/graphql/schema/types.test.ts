import { expect } from 'chai';
import { buildSnapshotFromSketch, buildTestGraphqlSchema } from './test-schema.ts';

const required = { column: { nullable: false } } as const;

describe('object types of a GraphQL schema', () => {
  const thing = buildTestGraphqlSchema(
    buildSnapshotFromSketch(
      {
        thing: {
          id: 'integer key',
          name: 'string',
          body: 'text',
          whole: 'integer',
          big: 'bigInteger',
          price: 'decimal',
          rating: 'float',
          ok: 'boolean',
          code: 'uuid',
          day: 'date',
          local: 'dateTime',
          moment: 'timestamp',
          clock: 'time',
          doc: 'json',
          list: 'json array',
          words: 'csv',
          bytes: 'binary',
          lock: 'hash',
          hidden: 'string concealed',
          spot: 'geometry',
          point: 'string',
          address: 'unknown',
          divider: 'alias',
        },
      },
      {
        'thing.point': { type: 'geometry.Point' },
        'thing.name': { note: 'What it is called' },
        thing: { note: 'Things' },
      },
    ),
  );

  it('object types have a GraphQL type for each field type', () => {
    expect(thing.type('thing')).to.equal(`"""Things"""
type thing {
  id: ID!

  """What it is called"""
  name: String
  body: String
  whole: Int
  big: BigInt
  price: Float
  rating: Float
  ok: Boolean
  code: ID
  day: Date
  day_func: date_functions
  local: Date
  local_func: datetime_functions
  moment: Date
  moment_func: datetime_functions
  clock: Date
  clock_func: time_functions
  doc: JSON
  doc_func: thing_doc_func
  list: JSON
  list_func: count_functions
  words: [String]
  bytes: String
  lock: Hash
  hidden: Hash
  spot: GeoJSON
  point: GeoJSON
  address: String
}`);
  });

  it('object types have the functions of dates, times, lists and JSON', () => {
    expect(thing.fields('date_functions')).to.deep.equal(['year', 'month', 'week', 'day', 'weekday']);
    expect(thing.fields('time_functions')).to.deep.equal(['hour', 'minute', 'second']);
    expect(thing.fields('datetime_functions')).to.deep.equal([
      ...thing.fields('date_functions'),
      ...thing.fields('time_functions'),
    ]);
    expect(thing.field('thing_doc_func.json')).to.equal('(path: String!): JSON');
    expect(thing.field('thing_doc_func.count')).to.equal(': Int');
  });

  it('object types bind fields to columns, relations and functions', () => {
    expect(thing.binding('thing.id')).to.deep.equal({ kind: 'column', field: 'id', as: 'text' });
    expect(thing.binding('thing.code')).to.deep.equal({ kind: 'column', field: 'code' });
    expect(thing.binding('thing.price')).to.deep.equal({ kind: 'column', field: 'price', as: 'number' });
    expect(thing.binding('thing.rating')).to.deep.equal({ kind: 'column', field: 'rating', as: 'number' });
    expect(thing.binding('thing.big')).to.deep.equal({ kind: 'column', field: 'big' });
    expect(thing.binding('thing.day_func')).to.deep.equal({ kind: 'functions', field: 'day' });
    expect(thing.binding('date_functions.year')).to.deep.equal({ kind: 'function', fn: 'year' });
    expect(thing.binding('thing_doc_func.json')).to.deep.equal({ kind: 'function', fn: 'json' });
    expect(thing.binding('delete_one.id')).to.equal(undefined);
  });

  it('object types have groups with counts of all fields that are not concealed, and aggregates of numeric fields', () => {
    expect(thing.fields('thing_aggregated')).to.deep.equal([
      ...['group', 'countAll', 'count', 'countDistinct', 'avg', 'sum', 'avgDistinct', 'sumDistinct', 'min', 'max'],
    ]);
    expect(thing.fields('thing_aggregated_fields')).to.deep.equal(['id', 'whole', 'big', 'price', 'rating']);
    expect(thing.fields('thing_aggregated_count'))
      .to.include('doc')
      .and.not.include.any.members(['lock', 'hidden', 'divider']);
    expect(thing.field('thing_aggregated_count.name')).to.equal(': Int');
    expect(thing.field('thing_aggregated_fields.big')).to.equal(': Float');
    expect(thing.binding('thing_aggregated.group')).to.deep.equal({ kind: 'groups' });
    expect(thing.binding('thing_aggregated.countAll')).to.deep.equal({ kind: 'count' });
    expect(thing.binding('thing_aggregated.max')).to.deep.equal({ kind: 'aggregate', name: 'max' });
    expect(thing.binding('thing_aggregated_fields.big')).to.deep.equal({ kind: 'aggregated field', field: 'big' });
  });

  it('object types have no numeric aggregates without a numeric field', () => {
    const one = buildTestGraphqlSchema(buildSnapshotFromSketch({ a: { id: 'uuid key', name: 'string' } }));
    expect(one.fields('a_aggregated')).to.deep.equal(['group', 'countAll', 'count', 'countDistinct']);
    expect(one.has('a_aggregated_fields')).to.equal(false);
  });

  it('object types have non-null fields for required columns, except types with values that read as null', () => {
    const one = buildTestGraphqlSchema(
      buildSnapshotFromSketch(
        {
          a: {
            id: 'integer key',
            name: 'string',
            at: 'timestamp',
            created_on: 'timestamp',
            sum: 'integer',
            price: 'decimal',
            rating: 'float',
            doc: 'json',
            words: 'csv',
            lock: 'hash',
            up: 'one a',
          },
        },
        {
          'a.name': required,
          'a.at': { column: { nullable: false, default: 'now()' } },
          'a.sum': { column: { nullable: false, generated: true } },
          'a.price': required,
          'a.rating': required,
          'a.doc': required,
          'a.words': required,
          'a.lock': required,
          'a.up': required,
        },
      ),
    );
    expect(one.field('a.id')).to.equal(': ID!');
    expect(one.field('a.name')).to.equal(': String!');
    expect(one.field('a.words')).to.equal(': [String]!');
    expect(one.field('a.lock')).to.equal(': Hash!');
    for (const [name, type] of Object.entries({
      at: 'Date',
      created_on: 'Date',
      sum: 'Int',
      price: 'Float',
      rating: 'Float',
      doc: 'JSON',
    }))
      expect(one.field(`a.${name}`), name).to.equal(`: ${type}`);
    expect(one.field('a.up')).to.match(/: a$/);
  });

  it('object types have the types of related collections that are in the schema', () => {
    const one = buildTestGraphqlSchema(
      buildSnapshotFromSketch({
        page: { id: 'integer key', author: 'one person', blocks: 'many block.page' },
        person: { id: 'uuid key', name: 'string', pages: 'many page.author' },
        block: { id: 'integer key', page: 'one page', kind: 'string', item: 'any kind person|quote|gone' },
        quote: { id: 'integer key', words: 'text' },
      }),
    );
    expect(one.field('page.author')).to.equal(
      '(filter: person_filter, sort: [String], limit: Int, offset: Int, page: Int, search: String): person',
    );
    expect(one.field('page.blocks')).to.equal(
      '(filter: block_filter, sort: [String], limit: Int, offset: Int, page: Int, search: String): [block]',
    );
    expect(one.field('page.blocks_func')).to.equal(': count_functions');
    expect(one.type('block_item_union')).to.equal('union block_item_union = person | quote');
    expect(one.binding('page.author')).to.deep.equal({ kind: 'related', field: 'author' });
    expect(one.binding('page.blocks')).to.deep.equal({ kind: 'related', field: 'blocks' });
    expect(one.binding('block.item')).to.deep.equal({ kind: 'any', field: 'item' });
  });
});
