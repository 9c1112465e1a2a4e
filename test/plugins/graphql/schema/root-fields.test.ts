import { expect } from 'chai';
import { buildSnapshotFromSketch, buildTestGraphqlSchema } from './test-schema.ts';

const LIST = 'filter: post_filter, sort: [String], limit: Int, offset: Int, page: Int, search: String';
const id = 'integer key';

/** Renders the expected arguments and type of a list of related rows. */
const related = (collection: string, type: string): string => `(${LIST.replace('post_', `${collection}_`)}): ${type}`;

describe('root fields of a GraphQL schema', () => {
  it('root fields are lists, rows by key, groups, and the mutations of the conventions', () => {
    const one = buildTestGraphqlSchema(buildSnapshotFromSketch({ post: { id, title: 'string' } }));
    expect(one.type('Query')).to.equal(`type Query {
  post(${LIST}): [post!]!
  post_by_id(id: ID!): post
  post_aggregated(groupBy: [String], ${LIST}): [post_aggregated!]!
}`);
    expect(one.type('Mutation')).to.equal(`type Mutation {
  create_post_item(data: create_post_input!): post
  create_post_items(data: [create_post_input!], ${LIST}): [post!]!
  update_post_item(id: ID!, data: update_post_input!): post
  update_post_items(ids: [ID]!, data: update_post_input!, ${LIST}): [post!]!
  update_post_batch(data: [update_post_input!], ${LIST}): [post!]!
  delete_post_item(id: ID!): delete_one
  delete_post_items(ids: [ID]!): delete_many
}`);
    expect(one.type('delete_one')).to.equal('type delete_one {\n  id: ID!\n}');
    expect(one.type('delete_many')).to.equal('type delete_many {\n  ids: [ID]!\n}');
    const kinds = [
      ...one.fields('Query').map((name) => `Query.${name}`),
      ...one.fields('Mutation').map((name) => `Mutation.${name}`),
    ];
    expect(kinds.map((path) => one.binding(path)?.kind)).to.deep.equal([
      ...['list', 'by id', 'aggregated', 'create one', 'create many', 'update one', 'update many', 'update each'],
      ...['delete one', 'delete many'],
    ]);
  });

  it('root fields are one object and one mutation for a singleton', () => {
    const one = buildTestGraphqlSchema(buildSnapshotFromSketch({ config: { $: 'singleton', id, title: 'string' } }));
    expect(one.type('Query')).to.equal('type Query {\n  config: config\n}');
    expect(one.type('Mutation')).to.equal('type Mutation {\n  update_config(data: update_config_input!): config\n}');
    expect(one.binding('Mutation.update_config')).to.deep.equal({
      kind: 'update singleton',
      collection: 'config',
      returnsRows: true,
    });
  });

  it('root fields are nullable for a singleton, which is answered before it has a row', () => {
    const tables = { config: { $: 'singleton', id, title: 'string' }, post: { id, title: 'string' } } as const;
    const title = { column: { nullable: false } };
    const one = buildTestGraphqlSchema(buildSnapshotFromSketch(tables, { 'config.title': title, 'post.title': title }));
    expect(['config.id', 'config.title'].map(one.field)).to.deep.equal([': ID', ': String']);
    expect(['post.id', 'post.title'].map(one.field)).to.deep.equal([': ID!', ': String!']);
  });

  it('root fields are queries only for views, by key when they have one', () => {
    const one = buildTestGraphqlSchema(
      buildSnapshotFromSketch(
        { seen: { id, title: 'string' } },
        {
          seen: { kind: 'view', primary: null, key: null, hasKey: false },
          'seen.id': { column: { nullable: true, primary: false } },
        },
      ),
    );
    expect(one.fields('Query')).to.deep.equal(['seen', 'seen_aggregated']);
    expect(one.schema.getMutationType()).to.equal(undefined);
    expect(one.field('seen.id')).to.equal(': Int');
  });

  it('root fields do not exist for folders, and have no key arguments for tables without a key', () => {
    const one = buildTestGraphqlSchema(
      buildSnapshotFromSketch(
        { folder: {}, pair: { a: 'integer', b: 'integer' } },
        { folder: { table: null, kind: 'folder', primary: null }, pair: { primary: null, key: null, hasKey: false } },
      ),
    );
    expect(one.fields('Query')).to.deep.equal(['pair', 'pair_aggregated']);
    expect(one.fields('Mutation')).to.deep.equal(['create_pair_item', 'create_pair_items']);
    expect(one.warnings).to.deep.equal([]);
  });

  it('root fields have system collections behind relations, and at the root of the system scope without their prefix', () => {
    const snapshot = buildSnapshotFromSketch(
      {
        platform_users: { id: 'uuid key', name: 'string', posts: 'many post.author' },
        post: { id, author: 'one platform_users' },
      },
      { platform_users: { system: true } },
    );
    const items = buildTestGraphqlSchema(snapshot);
    expect(items.fields('Query')).to.deep.equal(['post', 'post_by_id', 'post_aggregated']);
    expect(items.fields('Mutation').every((name) => name.includes('post'))).to.equal(true);
    expect(items.field('post.author')).to.equal(related('platform_users', 'platform_users'));
    const system = buildTestGraphqlSchema(snapshot, { scope: 'system' });
    expect(system.fields('Query')).to.deep.equal(['users', 'users_by_id', 'users_aggregated']);
    expect(system.field('Query.users_by_id')).to.equal('(id: ID!): platform_users');
    expect(system.field('Mutation.update_users_item')).to.equal(
      '(id: ID!, data: update_platform_users_input!): platform_users',
    );
    expect(system.binding('Query.users')).to.deep.equal({ kind: 'list', collection: 'platform_users' });
    expect(system.field('platform_users.posts')).to.match(/: \[post\]$/);
  });

  it('root fields are limited to the verbs of the collection', () => {
    const tables = {
      platform_a: { id, name: 'string' },
      platform_b: { id, a: 'one platform_a', c: 'one platform_c' },
      platform_c: { id },
    };
    const snapshot = buildSnapshotFromSketch(tables, {
      platform_a: { system: true, verbs: ['read'] },
      platform_b: { system: true },
      platform_c: { system: true, verbs: [] },
    });
    const one = buildTestGraphqlSchema(snapshot, { scope: 'system' });
    expect(one.fields('Query')).to.deep.equal(['a', 'a_by_id', 'a_aggregated', 'b', 'b_by_id', 'b_aggregated']);
    expect(one.fields('Mutation').every((name) => name.includes('_b_'))).to.equal(true);
    expect(one.has('platform_c')).to.equal(false);
    expect(one.field('platform_b.a')).to.equal(related('platform_a', 'platform_a'));
    expect(one.field('platform_b.c')).to.equal(': Int');
    expect(one.field('create_platform_b_input.a')).to.equal(': Int');
  });

  it('schemas include the built-in scalars, which variables inside JSON may have', () => {
    const one = buildTestGraphqlSchema(buildSnapshotFromSketch({ post: { id, doc: 'json' } }));
    for (const name of ['ID', 'Int', 'Float', 'String', 'Boolean']) expect(one.has(name), name).to.equal(true);
  });
});
