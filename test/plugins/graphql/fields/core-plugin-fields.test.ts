import { expect } from 'chai';
import {
  buildASTSchema,
  type DefinitionNode,
  type GraphQLObjectType,
  Kind,
  parse,
  print,
  validateSchema,
} from 'graphql';
import { CORE_PLUGIN_FLOORS } from '../../../../plugins/core-plugins.ts';
import { type ContributedGraphqlField, graphqlFields } from '../../../../plugins/graphql/contract.ts';
import { parseGraphqlFieldName } from '../../../../plugins/graphql/library.ts';
import { type TestPlugin, withBootedTestPlugins } from '../../../support/test-plugins.ts';

/** Stand-ins for the types of system collections that contributed fields refer to. */
const COLLECTION_TYPES = `
  scalar BigInt scalar JSON
  type platform_users { id: ID } type platform_roles { id: ID } type platform_files { id: ID } input update_platform_users_input { title: String }`;

async function contributed(environment: Record<string, string> = {}): Promise<readonly ContributedGraphqlField[]> {
  let all: readonly ContributedGraphqlField[] = [];
  let read: () => void = () => {};
  // Defines the facet graphql.fields in place of the plugin `graphql`, and reads what the core plugins contribute.
  const reader: TestPlugin = {
    name: 'reader',
    manifest: { facets: ['graphql.fields'] },
    register(host) {
      host.define(graphqlFields);
      read = () => void (all = host.read(graphqlFields).kept.map(({ value }) => value));
    },
  };
  const product = CORE_PLUGIN_FLOORS.flatMap(({ plugins }) =>
    plugins.filter((name) => name !== 'graphql' && name !== 'realtime-graphql'),
  );
  await withBootedTestPlugins([reader], () => read(), { product, environment });
  return all;
}

const named = (fields: readonly ContributedGraphqlField[]) =>
  fields.map(({ definition }) => parseGraphqlFieldName(definition));

describe('graphql.fields of the core plugins', () => {
  let fields: readonly ContributedGraphqlField[];
  before(async () => {
    fields = await contributed();
  });

  it('core plugins: the fields form a valid schema', () => {
    const types = new Map<string, DefinitionNode>();
    for (const { types: text = '' } of fields) {
      for (const definition of text === '' ? [] : parse(text).definitions) {
        const { value: name } = (definition as { name: { value: string } }).name;
        const known = types.get(name);
        if (known) expect(print(known), name).to.equal(print(definition));
        types.set(name, definition);
      }
    }
    const root = (operation: string) =>
      `{ ${fields
        .filter((one) => one.operation === operation)
        .map(({ definition }) => definition)
        .join('\n')} }`;
    const roots = parse(`${COLLECTION_TYPES} type Query ${root('query')} type Mutation ${root('mutation')}`);
    const schema = buildASTSchema({
      kind: Kind.DOCUMENT,
      definitions: [...roots.definitions, ...types.values()],
    });
    expect(validateSchema(schema)).to.deep.equal([]);
    expect(Object.keys((schema.getQueryType() as GraphQLObjectType).getFields())).to.include.members([
      'server_info',
      'users_me',
      'collections',
    ]);
  });

  it('core plugins: the fields belong to /graphql/system, each name once', () => {
    expect(fields.filter(({ scope }) => scope !== 'system')).to.deep.equal([]);
    expect(new Set(named(fields)).size).to.equal(fields.length);
  });

  it('fields that accept secrets, and the one with the largest answer, have "once"', () => {
    const once = fields.filter((one) => one.once);
    expect(named(once)).to.have.members([
      'auth_login',
      'auth_refresh',
      'auth_password_request',
      'auth_password_reset',
      'users_invite_accept',
      'users_register',
      'users_register_verify',
      'server_specs_oas',
    ]);
  });

  it('core plugins: the fields have no sign-in by password when it is disabled', async () => {
    const without = named(await contributed({ AUTH_DISABLE_DEFAULT: 'true' }));
    expect(named(fields).filter((name) => !without.includes(name))).to.deep.equal([
      'auth_login',
      'auth_password_request',
      'auth_password_reset',
    ]);
  });
});
