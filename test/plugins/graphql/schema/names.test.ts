import { readdir, readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { sketch } from '../../query/overview.ts';
import { made, overviewOf } from './made.ts';

const about = ({ warnings }: ReturnType<typeof made>) => warnings.map(({ about }) => Object.values(about).join('.'));

describe('names in a GraphQL schema', () => {
  it('makes a valid schema of every sketch the engine is tested with', async () => {
    const folder = new URL('../../query/schemas/', import.meta.url);
    for (const name of await readdir(folder)) {
      const tables = JSON.parse(await readFile(new URL(`${name}/schema.json`, folder), 'utf8'));
      expect(made(sketch(tables)).fields('Query'), name).to.not.deep.equal(['_empty']);
    }
  });

  it('leaves out fields whose names are not names of GraphQL, and says so', () => {
    const one = made(
      overviewOf({
        post: {
          id: 'integer key',
          'my-field': 'string',
          'with blank': 'string',
          __secret: 'string',
          '2nd': 'string',
          Größe: 'string',
          constructor: 'string',
          _under: 'string',
          Date: 'date',
        },
      }),
    );
    expect(one.fields('post')).to.deep.equal(['id', 'constructor', '_under', 'Date', 'Date_func']);
    expect(one.fields('post_filter')).to.deep.equal([
      'id',
      'constructor',
      '_under',
      'Date',
      'Date_func',
      '_and',
      '_or',
    ]);
    expect(about(one)).to.deep.equal(['post.my-field', 'post.with blank', 'post.__secret', 'post.2nd', 'post.Größe']);
  });

  it('leaves out collections whose names are not names of GraphQL, or those of its own types', () => {
    const fields = { id: 'integer key' };
    const names = [
      'Query',
      'Mutation',
      'JSON',
      'ID',
      'delete_one',
      'string_filter_operators',
      'GraphQLBigInt',
      '__x',
      'my table',
      'a-b',
    ];
    const one = made(overviewOf({ ...Object.fromEntries(names.map((name) => [name, fields])), post: fields }));
    expect(one.fields('Query')).to.deep.equal(['post', 'post_by_id', 'post_aggregated']);
    expect(about(one)).to.have.members(names);
  });

  it('has nothing behind a relation to a collection that is left out but its key', () => {
    const one = made(
      overviewOf({
        'my table': { id: 'integer key', posts: 'many post.owner' },
        post: { id: 'integer key', owner: 'one my table' },
      }),
    );
    expect(one.field('post.owner')).to.equal(': Int');
    expect(one.field('post_filter.owner')).to.equal(': number_filter_operators');
    expect(one.field('create_post_input.owner')).to.equal(': Int');
  });

  it('keeps the shorter of two collections of which one is called like something made of the other', () => {
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
      for (const tables of [
        { post: fields, [other]: fields },
        { [other]: fields, post: fields },
      ]) {
        const one = made(overviewOf(tables));
        expect(about(one), other).to.deep.equal([other]);
        expect(one.fields('Query'), other).to.deep.equal(['post', 'post_by_id', 'post_aggregated']);
      }
    }
  });

  it('keeps a singleton from taking the name of a mutation', () => {
    const fields = { id: 'integer key' };
    const one = made(overviewOf({ post_item: { $: 'singleton', ...fields }, post: fields, post_batch: fields }));
    expect(about(one)).to.deep.equal(['post_item']);
    expect(one.fields('Mutation')).to.include('create_post_batch_item');
  });

  it('leaves out what is made of a field where its name is taken', () => {
    const one = made(
      overviewOf({
        a: { id: 'integer key', doc: 'json', at: 'date', at_func: 'string', item: 'any kind b', kind: 'string' },
        a_doc_func: { id: 'integer key' },
        a_item_union: { id: 'integer key' },
        b: { id: 'integer key' },
      }),
    );
    expect(one.fields('a')).to.deep.equal(['id', 'doc', 'at', 'at_func', 'kind']);
    expect(about(one)).to.have.members(['a.doc', 'a.at', 'a.item']);
    expect(one.fields('a_doc_func')).to.deep.equal(['id']);
  });

  it('tells two fields of two collections apart whose unions or functions would be called the same', () => {
    const one = made(
      overviewOf({
        a: { id: 'integer key', b_doc: 'json', b_item: 'any kind c', kind: 'string' },
        a_b: { id: 'integer key', doc: 'json', item: 'any kind c', kind: 'string' },
        c: { id: 'integer key' },
      }),
    );
    expect(one.fields('a')).to.deep.equal(['id', 'b_doc', 'b_doc_func', 'b_item', 'kind']);
    expect(one.fields('a_b')).to.deep.equal(['id', 'doc', 'kind']);
    expect(about(one)).to.have.members(['a_b.doc', 'a_b.item']);
  });

  it('has no entry in filters for fields that are called like words of the filter language', () => {
    const one = made(
      overviewOf({ a: { id: 'integer key', _eq: 'string', _and: 'string', _some: 'string', _plain: 'string' } }),
    );
    expect(one.fields('a')).to.deep.equal(['id', '_eq', '_and', '_some', '_plain']);
    expect(one.fields('a_filter')).to.deep.equal(['id', '_plain', '_and', '_or']);
    expect(one.field('a_filter._and')).to.equal(': [a_filter]');
  });

  it('says once for an overview what it leaves out', () => {
    const overview = overviewOf({ a: { id: 'integer key', 'b-c': 'string' } });
    expect(made(overview).warnings).to.have.length(1);
    expect(made(overview).warnings).to.deep.equal([]);
  });
});
