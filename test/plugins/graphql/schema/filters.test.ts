import { expect } from 'chai';
import { filterOperatorsInputOf, OPERATOR_INPUTS_BY_VALUE_KIND } from '../../../../plugins/graphql/schema/operators.ts';
import { filterOperatorsOfFieldReference as ofEngine } from '../../../../plugins/query/parse/operators-by-field-type.ts';
import { FIELD_TYPES, type Field } from '../../../../plugins/schema/contract.ts';
import { buildSnapshotFromSketch, buildTestGraphqlSchema } from './test-schema.ts';

const site = buildTestGraphqlSchema(
  buildSnapshotFromSketch({
    page: {
      id: 'integer key',
      author: 'one person',
      born: 'date',
      doc: 'json',
      blocks: 'many block.page',
      secret: 'string concealed',
    },
    person: { id: 'uuid key', name: 'string' },
    block: { id: 'integer key', page: 'one page', kind: 'string', item: 'any kind person|page', item__page: 'string' },
  }),
);

describe('filter inputs of a GraphQL schema', () => {
  const fieldOf = (type: Field['type']) =>
    buildSnapshotFromSketch({ a: { id: 'integer key', x: 'string' } }, { 'a.x': { type, concealed: type === 'hash' } })
      .collections.get('a')
      ?.fields.get('x') as Field;

  it('filter inputs have the operators of the engine for each field type', () => {
    for (const type of FIELD_TYPES.filter((one) => one !== 'alias' && one !== 'uuid')) {
      const own = Object.keys(filterOperatorsInputOf(fieldOf(type), false).getFields()).filter(
        (name) => name !== '_json',
      );
      expect(own, type).to.have.members([...ofEngine({ field: fieldOf(type) })]);
    }
    const ofCount = Object.keys(OPERATOR_INPUTS_BY_VALUE_KIND.number.getFields());
    expect(ofCount).to.have.members([...ofEngine({ field: fieldOf('date'), fn: { name: 'year' } })]);
  });

  it('filter inputs have all operators for keys, which may be of any type', () => {
    const own = Object.keys(filterOperatorsInputOf(fieldOf('integer'), true).getFields());
    for (const type of ['integer', 'string', 'uuid'] as const)
      expect(own, type).to.include.members([...ofEngine({ field: fieldOf(type) })]);
    expect(filterOperatorsInputOf(fieldOf('uuid'), false)).to.equal(OPERATOR_INPUTS_BY_VALUE_KIND.id);
  });

  it('filter inputs have only the null operators for concealed fields', () => {
    expect(site.field('page_filter.secret')).to.equal(': hash_filter_operators');
    expect(site.fields('hash_filter_operators')).to.deep.equal(['_null', '_nnull', '_empty', '_nempty']);
  });

  it('filter inputs accept texts for numbers, lists for operators with several values, and Booleans for flags', () => {
    expect(site.field('number_filter_operators._gt')).to.equal(': StringOrFloat');
    expect(site.field('number_filter_operators._between')).to.equal(': [StringOrFloat]');
    expect(site.field('id_filter_operators._in')).to.equal(': [ID]');
    expect(site.field('string_filter_operators._empty')).to.equal(': Boolean');
    expect(site.field('json_filter_operators._json')).to.equal(': JSON');
  });

  it('filter inputs have the filters of related collections', () => {
    expect(site.fields('page_filter')).to.deep.equal([
      ...['id', 'author', 'born', 'born_func', 'doc', 'doc_func', 'blocks', 'blocks_func', 'secret', '_and', '_or'],
    ]);
    expect(site.field('page_filter.author')).to.equal(': person_filter');
    expect(site.field('page_filter.blocks')).to.equal(': block_quantifier_filter');
    expect(site.field('page_filter._or')).to.equal(': [page_filter]');
    expect(site.fields('block_quantifier_filter')).to.deep.equal([...site.fields('block_filter'), '_some', '_none']);
    expect(site.field('block_quantifier_filter._none')).to.equal(': block_filter');
    expect(site.field('block_quantifier_filter._and')).to.equal(': [block_filter]');
  });

  it('filter inputs have one entry for each collection of a many-to-any, unless a field has its name', () => {
    expect(site.fields('block_filter')).to.deep.equal([
      'id',
      'page',
      'kind',
      'item',
      'item__page',
      'item__person',
      '_and',
      '_or',
    ]);
    expect(site.field('block_filter.item')).to.equal(': string_filter_operators');
    expect(site.field('block_filter.item__page')).to.equal(': string_filter_operators');
    expect(site.filterBinding('block_filter.item__person')).to.deep.equal({
      kind: 'key',
      key: 'item:person',
    });
    expect(site.filterBinding('block_quantifier_filter.item__person')).to.deep.equal({
      kind: 'key',
      key: 'item:person',
    });
    expect(site.filterBinding('block_filter.item')).to.equal(undefined);
  });

  it('filter inputs have an entry <field>_func for functions', () => {
    expect(site.field('page_filter.born_func')).to.equal(': date_function_filter_operators');
    expect(site.field('page_filter.doc_func')).to.equal(': count_function_filter_operators');
    expect(site.fields('date_function_filter_operators')).to.deep.equal(['year', 'month', 'week', 'day', 'weekday']);
    expect(site.field('date_function_filter_operators.year')).to.equal(': number_filter_operators');
    expect(site.filterBinding('page_filter.born_func')).to.deep.equal({
      kind: 'functions',
      field: 'born',
    });
  });
});
