import { readdir, readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { findAlternativeGraphqlAlias } from '../../../../plugins/graphql/schema/database-name-aliases.ts';
import { buildSketchedSchema } from '../../query/schema-sketch.ts';
import { buildSnapshotFromSketch, buildTestGraphqlSchema } from './test-schema.ts';

const about = ({ warnings }: ReturnType<typeof buildTestGraphqlSchema>) =>
  warnings.map(({ about }) => Object.values(about).join('.'));

describe('names in a GraphQL schema', () => {
  it('names form a valid schema for every schema the engine is tested with', async () => {
    const folder = new URL('../../query/schemas/', import.meta.url);
    for (const name of await readdir(folder)) {
      const tables = JSON.parse(await readFile(new URL(`${name}/schema.json`, folder), 'utf8'));
      expect(buildTestGraphqlSchema(buildSketchedSchema(tables)).fields('Query'), name).to.not.deep.equal(['_empty']);
    }
  });

  it('fields whose names are not GraphQL names have an alias', () => {
    const one = buildTestGraphqlSchema(
      buildSnapshotFromSketch({
        post: {
          id: 'integer key',
          'my-field': 'string',
          __secret: 'string',
          '2nd': 'date',
          Größe: 'string',
          constructor: 'string',
          _under: 'string',
          Date: 'date',
        },
      }),
    );
    const fields = ['id', 'my_u002D_field', '_u005F__secret', '_u0032_nd', '_u0032_nd_func', 'Gr_u00F600DF_e'];
    const others = ['constructor', '_under', 'Date', 'Date_func'];
    expect(one.fields('post')).to.deep.equal([...fields, ...others]);
    expect(one.fields('post_filter')).to.deep.equal([...fields, ...others, '_and', '_or']);
    expect(one.type('post')).to.contain('"""In the database: "my-field"."""\n  my_u002D_field: String');
    expect(one.warnings).to.deep.equal([]);
  });

  it('collections whose names are not GraphQL names, or are reserved type names, have an alias', () => {
    const fields = { id: 'integer key' };
    const names = {
      Query: 'Quer_u0079_',
      JSON: 'JSO_u004E_',
      delete_one: 'delete_on_u0065_',
      string_filter_operators: 'string_filter_operator_u0073_',
      GraphQLBigInt: 'GraphQLBigIn_u0074_',
      __x: '_u005F__x',
      'my table': 'my_u0020_table',
      'a-b': 'a_u002D_b',
    };
    const tables = Object.fromEntries(Object.keys(names).map((name) => [name, fields]));
    const one = buildTestGraphqlSchema(buildSnapshotFromSketch(tables));
    expect(one.fields('Query').filter((name) => !/_(by_id|aggregated)$/.test(name))).to.deep.equal(
      Object.values(names),
    );
    // The schema warns of aliases that depend on other names.
    expect(about(one)).to.have.members(
      ['Query', 'JSON', 'delete_one', 'string_filter_operators', 'GraphQLBigInt'].map(
        (name) => `${name}.${names[name as keyof typeof names]}`,
      ),
    );
    expect(one.type('my_u0020_table')).to.match(/^"""In the database: "my table"\."""/);
  });

  it('aliases are the same in any order and beside any other collections', () => {
    const named = (tables: Parameters<typeof buildSnapshotFromSketch>[0]) =>
      buildTestGraphqlSchema(buildSnapshotFromSketch(tables)).fields('a_u0020_b');
    const fields = { id: 'integer key', 'zip code': 'string', 'zip-code': 'string' };
    const alone = named({ 'a b': { id: 'integer key', 'zip code': 'string' } });
    const other = { 'zip-code': 'string', zip_code: 'string', zip_u0020_code: 'string', 'zip code': 'string' };
    expect(alone).to.deep.equal(['id', 'zip_u0020_code']);
    expect(named({ 'a b': { id: 'integer key', ...other }, a_b: fields, 'a-b': fields })).to.include.members([
      ...alone,
    ]);
    expect(named({ 'a-b': fields, a_u0020_b: fields, 'a b': fields })).to.include.members([...alone]);
  });

  it('relations lead to collections with an alias', () => {
    const one = buildTestGraphqlSchema(
      buildSnapshotFromSketch({
        'my-table': { id: 'integer key', posts: 'many post.owner' },
        post: { id: 'integer key', owner: 'one my-table' },
      }),
    );
    expect(one.field('post.owner')).to.match(/: my_u002D_table$/);
    expect(one.field('post_filter.owner')).to.equal(': my_u002D_table_filter');
    expect(one.field('create_post_input.owner')).to.equal(': nested_my_u002D_table_input');
  });

  it('of two collections of which one has the name of a type derived from the other, the one with the shorter name keeps its name', () => {
    for (const other of [
      'post_filter',
      'post_quantifier_filter',
      'post_aggregated',
      'post_aggregated_fields',
      'post_aggregated_count',
      'post_by_id',
      'create_post_input',
      'nested_post_input',
    ]) {
      const fields = { id: 'integer key', name: 'string' };
      const alias = findAlternativeGraphqlAlias(other, () => false);
      for (const tables of [
        { post: fields, [other]: fields },
        { [other]: fields, post: fields },
      ]) {
        const one = buildTestGraphqlSchema(buildSnapshotFromSketch(tables));
        expect(about(one), other).to.deep.equal([`${other}.${alias}`]);
        const own = ['post', 'post_by_id', 'post_aggregated'];
        expect(one.fields('Query'), other).to.have.members([...own, ...own.map((name) => name.replace('post', alias))]);
      }
    }
  });

  it('a singleton with the name of a mutation has an alias', () => {
    const fields = { id: 'integer key' };
    const one = buildTestGraphqlSchema(
      buildSnapshotFromSketch({ post_item: { $: 'singleton', ...fields }, post: fields, post_batch: fields }),
    );
    expect(about(one)).to.deep.equal(['post_item.post_ite_u006D_']);
    expect(one.fields('Mutation')).to.include.members(['create_post_batch_item', 'update_post_ite_u006D_']);
  });

  it('a type derived from a field has an alias when its name is used', () => {
    const one = buildTestGraphqlSchema(
      buildSnapshotFromSketch({
        a: { id: 'integer key', doc: 'json', at: 'date', at_func: 'string', item: 'any kind b', kind: 'string' },
        a_doc_func: { id: 'integer key' },
        a_item_union: { id: 'integer key' },
        b: { id: 'integer key' },
      }),
    );
    expect(one.fields('a')).to.deep.equal(['id', 'doc', 'doc_func', 'at', 'at_fun_u0063_', 'at_func', 'item', 'kind']);
    expect(one.field('a.doc_func')).to.equal(': a_doc_fun_u0063_');
    expect(one.field('a.item')).to.equal(': a_item_unio_u006E_');
    expect(one.fields('a_doc_func')).to.deep.equal(['id']);
  });

  it('unions and function types of two collections that would have one name are distinguished', () => {
    const one = buildTestGraphqlSchema(
      buildSnapshotFromSketch({
        a: { id: 'integer key', b_doc: 'json', b_item: 'any kind c', kind: 'string' },
        a_b: { id: 'integer key', doc: 'json', item: 'any kind c', kind: 'string' },
        c: { id: 'integer key' },
      }),
    );
    expect([one.field('a.b_doc_func'), one.field('a.b_item')]).to.deep.equal([': a_b_doc_func', ': a_b_item_union']);
    expect([one.field('a_b.doc_func'), one.field('a_b.item')]).to.deep.equal([
      ': a_b_doc_fun_u0063_',
      ': a_b_item_unio_u006E_',
    ]);
  });

  it('filters have no entry for fields with names of the filter language', () => {
    const one = buildTestGraphqlSchema(
      buildSnapshotFromSketch({
        a: { id: 'integer key', _eq: 'string', _and: 'string', _some: 'string', _plain: 'string' },
      }),
    );
    expect(one.fields('a')).to.deep.equal(['id', '_eq', '_and', '_some', '_plain']);
    expect(one.fields('a_filter')).to.deep.equal(['id', '_plain', '_and', '_or']);
    expect(one.field('a_filter._and')).to.equal(': [a_filter]');
  });

  it('names that depend on others are warned of once for a schema snapshot', () => {
    const snapshot = buildSnapshotFromSketch({ a: { id: 'integer key' }, a_filter: { id: 'integer key' } });
    expect(buildTestGraphqlSchema(snapshot).warnings).to.have.length(1);
    expect(buildTestGraphqlSchema(snapshot).warnings).to.deep.equal([]);
  });
});
