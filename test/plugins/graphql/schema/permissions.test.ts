import { expect } from 'chai';
import { APP_ACCESS_PERMISSIONS } from '../../../../plugins/access/contract.ts';
import { createPermissionSet } from '../../../support/permissions.ts';
import { buildPermissionSet, buildSnapshotFromSketch, buildTestGraphqlSchema } from './test-schema.ts';

const tables = {
  page: { id: 'integer key', title: 'string', author: 'one person', blocks: 'many block.page' },
  person: { id: 'uuid key', name: 'string', token: 'string', pages: 'many page.author' },
  block: { id: 'integer key', page: 'one page', kind: 'string', item: 'any kind person|quote' },
  quote: { id: 'integer key', words: 'text' },
};
const snapshot = buildSnapshotFromSketch(tables, {
  'person.token': { sensitive: true },
  'page.title': { column: { nullable: false } },
});
const ofReader = (all: Parameters<typeof buildPermissionSet>[0]) =>
  buildTestGraphqlSchema(snapshot, { permissions: buildPermissionSet(all) });

describe('the GraphQL schema of a set of permissions', () => {
  it('the schema has only _empty without permissions', () => {
    const one = ofReader({});
    expect(one.type('Query')).to.equal('type Query {\n  _empty: Void\n}');
    expect(one.schema.getMutationType()).to.equal(undefined);
    expect(one.binding('Query._empty')).to.deep.equal({ kind: 'nothing' });
  });

  it('the schema has everything for admins, sensitive fields included', () => {
    const one = buildTestGraphqlSchema(snapshot);
    expect(one.fields('person')).to.deep.equal(['id', 'name', 'token', 'pages', 'pages_func']);
    expect(one.fields('Mutation')).to.have.length(4 * 7);
  });

  it('the schema has only readable fields in all types', () => {
    const one = ofReader({ page: { read: ['title'] }, quote: { read: ['*'] } });
    expect(one.fields('page')).to.deep.equal(['title']);
    expect(one.fields('page_filter')).to.deep.equal(['title', '_and', '_or']);
    expect(one.fields('page_aggregated_count')).to.deep.equal(['title']);
    expect(one.has('page_aggregated_fields')).to.equal(false);
    expect(one.fields('Query')).to.deep.equal([
      'page',
      'page_by_id',
      'page_aggregated',
      'quote',
      'quote_by_id',
      'quote_aggregated',
    ]);
    expect(one.has('person')).to.equal(false);
    expect(one.has('block')).to.equal(false);
  });

  it('keeps sensitive fields out of `*`', () => {
    expect(ofReader({ person: { read: ['*'] } }).fields('person')).to.deep.equal(['id', 'name']);
    expect(ofReader({ person: { read: ['*', 'token'] } }).fields('person')).to.include('token');
  });

  it('the schema has bare keys for relations to unreadable collections, and no lists of them', () => {
    const one = ofReader({ page: { read: ['*'] }, block: { read: ['*'] } });
    expect(one.field('page.author')).to.equal(': ID');
    expect(one.binding('page.author')).to.deep.equal({ kind: 'column', field: 'author' });
    expect(one.field('page_filter.author')).to.equal(': id_filter_operators');
    expect(one.field('block.item')).to.equal(': String');
    expect(one.binding('block.item')).to.deep.equal({ kind: 'column', field: 'item' });
    expect(one.fields('block_filter')).to.not.include('item__quote');
    const other = ofReader({ person: { read: ['*'] } });
    expect(other.fields('person_filter')).to.deep.equal(['id', 'name', '_and', '_or']);
    expect(other.fields('person')).to.deep.equal(['id', 'name']);
  });

  it('the schema has only readable collections in the union of a many-to-any', () => {
    const one = ofReader({ block: { read: ['*'] }, quote: { read: ['words'] } });
    expect(one.type('block_item_union')).to.equal('union block_item_union = quote');
    expect(one.fields('block_filter')).to.include('item__quote').and.not.include('item__person');
  });

  it('the schema has no readable collection without readable fields', () => {
    expect(ofReader({ page: { read: [] } }).fields('Query')).to.deep.equal(['_empty']);
    expect(ofReader({ person: { read: ['pages'] } }).fields('Query')).to.deep.equal(['_empty']);
    // A collection with only lists of unreadable collections is not readable either.
    const lists = buildSnapshotFromSketch({
      a: { id: 'integer key', bs: 'many b.a' },
      b: { id: 'integer key', a: 'one a', cs: 'many c.b' },
      c: { id: 'integer key', b: 'one b' },
    });
    const one = buildTestGraphqlSchema(lists, {
      permissions: buildPermissionSet({ a: { read: ['bs'] }, b: { read: ['cs'] } }),
    });
    expect(one.fields('Query')).to.deep.equal(['_empty']);
    const other = buildTestGraphqlSchema(lists, {
      permissions: buildPermissionSet({ a: { read: ['bs'] }, b: { read: ['cs'] }, c: { read: ['id'] } }),
    });
    expect(other.fields('a')).to.deep.equal(['bs', 'bs_func']);
  });

  it('the schema has nullable types for fields that are readable in some rows only, keys included', () => {
    const several = (one: readonly string[], other: readonly string[]) => [
      { fields: one, rule: { title: { _eq: 'a' } } },
      { fields: other, rule: { title: { _eq: 'b' } } },
    ];
    const some = ofReader({ page: { read: several(['id'], ['title']) } });
    expect(some.field('page.id')).to.equal(': ID');
    expect(some.field('page.title')).to.equal(': String');
    const always = ofReader({ page: { read: several(['id'], ['*']) } });
    expect(always.field('page.id')).to.equal(': ID!');
    expect(always.field('page.title')).to.equal(': String');
    // A row rule leaves rows out and makes no field nullable.
    expect(ofReader({ page: { read: [{ rule: { title: { _eq: 'a' } } }] } }).field('page.title')).to.equal(': String!');
  });

  it('the schema has the rows of app access beside those of a role', () => {
    const users = buildSnapshotFromSketch(
      { platform_users: { id: 'uuid key', email: 'string', token: 'string', first_name: 'string' } },
      { platform_users: { system: true }, 'platform_users.token': { sensitive: true } },
    );
    const own = buildPermissionSet({ platform_users: { read: ['id', 'first_name'] } });
    const rows = [...own.of('platform_users', 'read'), ...APP_ACCESS_PERMISSIONS];
    const one = buildTestGraphqlSchema(users, { permissions: createPermissionSet(rows, 'app'), scope: 'system' });
    expect(one.field('platform_users.id')).to.equal(': ID!');
    expect(one.fields('platform_users')).to.deep.equal(['id', 'email', 'first_name']);
    expect(one.fields('Query')).to.deep.equal(['users', 'users_by_id', 'users_aggregated']);
  });

  it('answers a Boolean from mutations when the caller may write but not read', () => {
    const one = ofReader({ quote: { create: ['words'], update: ['words'], delete: [] } });
    expect(one.fields('Query')).to.deep.equal(['_empty']);
    expect(one.type('Mutation')).to.equal(`type Mutation {
  create_quote_item(data: create_quote_input!): Boolean
  create_quote_items(data: [create_quote_input!]): Boolean
  update_quote_item(id: ID!, data: update_quote_input!): Boolean
  update_quote_items(ids: [ID]!, data: update_quote_input!): Boolean
  update_quote_batch(data: [update_quote_input!]): Boolean
  delete_quote_item(id: ID!): delete_one
  delete_quote_items(ids: [ID]!): delete_many
}`);
    expect(one.binding('Mutation.create_quote_item')).to.deep.equal({
      kind: 'create one',
      collection: 'quote',
      returnsRows: false,
    });
    expect(one.fields('create_quote_input')).to.deep.equal(['words']);
    expect(one.fields('update_quote_input')).to.deep.equal(['id', 'words']);
  });

  it('the schema has only the permitted mutations', () => {
    const one = ofReader({ quote: { read: ['*'], update: ['words'] } });
    expect(one.fields('Mutation')).to.deep.equal(['update_quote_item', 'update_quote_items', 'update_quote_batch']);
    expect(ofReader({ quote: { read: ['*'], create: [], update: [] } }).schema.getMutationType()).to.equal(undefined);
  });
});
