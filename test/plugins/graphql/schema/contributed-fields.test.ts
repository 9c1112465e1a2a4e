import { expect } from 'chai';
import type { GraphQLObjectType } from 'graphql';
import type { ContributedGraphqlField } from '../../../../plugins/graphql/contract.ts';
import { buildPermissionSet, buildSnapshotFromSketch, buildTestGraphqlSchema } from './test-schema.ts';

const snapshot = buildSnapshotFromSketch(
  {
    platform_users: { id: 'uuid key', name: 'string' },
    auth_tokens: { id: 'integer key' },
    post: { id: 'integer key', owner: 'one auth_tokens' },
  },
  { platform_users: { system: true } },
);
const field = (definition: string, more: Partial<ContributedGraphqlField> = {}): ContributedGraphqlField => ({
  scope: 'system',
  operation: 'query',
  definition,
  resolve: () => null,
  ...more,
});
const TOKENS = 'type auth_tokens { access_token: String expires: BigInt }\nenum auth_mode { json cookie }';
const ofAdmin = (...contributed: ContributedGraphqlField[]) =>
  buildTestGraphqlSchema(snapshot, { scope: 'system', contributed });
const ofPublic = (...contributed: ContributedGraphqlField[]) =>
  buildTestGraphqlSchema(snapshot, { scope: 'system', contributed, permissions: buildPermissionSet({}) });

describe('contributed fields in a GraphQL schema', () => {
  it('contributed fields have their arguments, types, defaults and descriptions', () => {
    const login = field(
      '"""Signs in"""\nauth_login(email: String!, mode: auth_mode = json, at: [Date!]): auth_tokens',
      {
        operation: 'mutation',
        types: TOKENS,
      },
    );
    const one = ofPublic(login, field('server_ping: String'));
    expect(one.type('Mutation')).to.equal(`type Mutation {
  """Signs in"""
  auth_login(email: String!, mode: auth_mode = json, at: [Date!]): auth_tokens
}`);
    expect(one.type('Query')).to.equal('type Query {\n  server_ping: String\n}');
    expect(one.type('auth_mode')).to.equal('enum auth_mode {\n  json\n  cookie\n}');
    expect(one.field('auth_tokens.expires')).to.equal(': BigInt');
    expect(one.binding('Mutation.auth_login')).to.deep.equal({ kind: 'contributed', field: login });
    expect(one.warnings.map(({ about }) => about.collection)).to.deep.equal(['auth_tokens']);
  });

  it('contributed fields are in the schema of their scope only', () => {
    const one = buildTestGraphqlSchema(snapshot, {
      contributed: [field('server_ping: String'), field('extra: String', { scope: 'items' })],
    });
    expect(one.fields('Query')).to.include('extra').and.not.include('server_ping');
    expect(one.has('auth_tokens')).to.equal(true);
  });

  it('contributed fields are in the schemas of the callers in "offeredTo" only', () => {
    const fields = [
      field('a: String', { offeredTo: 'admins' }),
      field('b: String', { offeredTo: { collection: 'platform_users', action: 'read' } }),
    ];
    expect(ofAdmin(...fields).fields('Query')).to.include.members(['a', 'b']);
    expect(ofPublic(...fields).fields('Query')).to.deep.equal(['_empty']);
    const permissions = buildPermissionSet({ platform_users: { read: ['id'] } });
    expect(buildTestGraphqlSchema(snapshot, { scope: 'system', contributed: fields, permissions }).fields('Query'))
      .to.include('b')
      .and.not.include('a');
  });

  it('contributed fields may name types of collections, and are left out without a warning when the caller has no such type', () => {
    const fields = [
      field('users_me: platform_users', { row: 'platform_users' }),
      field('update_users_me(data: update_platform_users_input!): platform_users', { operation: 'mutation' }),
      field('holder: holder', {
        types: 'type holder { of: holder_of, again: holder } type holder_of { user: [platform_users!]! }',
      }),
    ];
    const one = ofAdmin(...fields);
    expect(one.field('Query.users_me')).to.equal(': platform_users');
    expect(one.binding('platform_users.id')).to.deep.equal({ kind: 'column', field: 'id' });
    expect(one.field('Mutation.update_users_me')).to.equal('(data: update_platform_users_input!): platform_users');
    expect(one.field('holder_of.user')).to.equal(': [platform_users!]!');
    expect(one.schema.getType('platform_users')).to.equal(
      (one.schema.getType('Query') as GraphQLObjectType).getFields().users_me?.type,
    );
    const reader = buildTestGraphqlSchema(snapshot, {
      scope: 'system',
      contributed: fields,
      permissions: buildPermissionSet({ platform_users: { read: ['id'] } }),
    });
    expect(reader.fields('Query')).to.include('users_me');
    expect(reader.schema.getMutationType()).to.equal(undefined);
    const none = ofPublic(...fields);
    expect(none.fields('Query')).to.deep.equal(['_empty']);
    expect(none.warnings.filter(({ about }) => about.by)).to.deep.equal([]);
  });

  it('contributed fields share a type that two fields define with the same text; a field that defines it differently is left out', () => {
    const one = ofPublic(
      field('a: auth_tokens', { types: TOKENS }),
      field('b: auth_tokens', { types: `${TOKENS}  # the same` }),
      field('c: auth_tokens', { types: 'type auth_tokens { other: String }' }),
      field('d: JSON', { types: 'type JSON { other: String }' }),
    );
    expect(one.fields('Query')).to.deep.equal(['a', 'b']);
    expect(one.warnings.filter(({ about }) => about.by).map(({ about }) => about.definition)).to.deep.equal([
      'c: auth_tokens',
      'd: JSON',
    ]);
  });

  it('contributed fields may define inputs, and are left out when an input or output type is in the wrong place', () => {
    const types = 'input scope_input { names: [String!] inner: scope_input } type shown { at: Date }';
    const one = ofPublic(
      field('a(scope: scope_input): shown', { types }),
      field('b(scope: shown): String', { types }),
      field('c: scope_input', { types }),
    );
    expect(one.fields('Query')).to.deep.equal(['a']);
    expect(one.type('scope_input')).to.equal('input scope_input {\n  names: [String!]\n  inner: scope_input\n}');
    expect(one.warnings.filter(({ about }) => about.by)).to.have.length(2);
  });

  it('contributed fields are left out with a warning when they cannot be parsed, name an unknown type, or have the name of a collection field', () => {
    const one = ofAdmin(
      field('a: '),
      field('b: nowhere'),
      field('c: String } type Other { d: String'),
      field('d: u', { types: 'union u = platform_users' }),
      field('users: String'),
      field('e: String'),
      field('e: Int'),
    );
    expect(one.fields('Query')).to.deep.equal(['users', 'users_by_id', 'users_aggregated', 'e']);
    expect(one.field('Query.e')).to.equal(': String');
    expect(one.field('Query.users')).to.match(/\[platform_users!\]!$/);
    expect(one.warnings).to.have.length(6);
  });

  it('contributed fields are left out with a warning when they use names that GraphQL reserves', () => {
    const one = ofAdmin(
      field('a: __Type', { types: 'type __Type { a: String }' }),
      field('__schema: String'),
      field('b(__x: Int): String'),
      field('c: kind', { types: 'enum kind { __a }' }),
      field('d: String'),
    );
    expect(one.fields('Query')).to.deep.equal(['users', 'users_by_id', 'users_aggregated', 'd']);
    expect(one.warnings.map(({ message }) => message)).to.include.members([
      'a field is left out of GraphQL: GraphQL reserves the name __Type',
      'a field is left out of GraphQL: GraphQL reserves the name __schema',
      'a field is left out of GraphQL: GraphQL reserves the name __x',
      'a field is left out of GraphQL: GraphQL reserves the name __a',
    ]);
  });

  it('contributed fields keep their type names from being used for collections of their scope', () => {
    const login = field('auth_login: auth_tokens', { types: TOKENS });
    const system = ofAdmin(login);
    expect(system.fields('auth_tokens')).to.deep.equal(['access_token', 'expires']);
    const items = buildTestGraphqlSchema(snapshot, { contributed: [login] });
    expect(items.fields('auth_tokens')).to.deep.equal(['id']);
    expect(items.field('post.owner')).to.match(/: auth_tokens$/);
  });
});
