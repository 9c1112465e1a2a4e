import { GraphQLObjectType, GraphQLSchema, specifiedScalarTypes } from 'graphql';
import type { Access, PermissionSet } from '../../access/contract.ts';
import type { Overview } from '../../schema/contract.ts';
import type { GraphqlScope } from '../contract.ts';
import { bindingExtensions } from './binding.ts';
import { type ContributedFields, contributedTypeNames, createContributedFields } from './contributed.ts';
import { createMutationFields } from './mutation-fields.ts';
import { createQueryFields, type RootFieldConfigs } from './query-fields.ts';
import { VoidScalar } from './scalars.ts';
import { createSchemaModel } from './schema-model.ts';
import { assignNames, type Warn } from './schema-names.ts';
import { createTypeRegistry } from './type-registry.ts';

export interface SchemaInput {
  readonly snapshot: Overview;
  readonly permissions: PermissionSet;
  readonly listed: Access['listed'];
  readonly scope: GraphqlScope;
  readonly contributed: ContributedFields;
  /** Told of what is left out; what has to do with names once for each overview. */
  readonly warn: Warn;
}

/**
 * The schema of callers with these permissions: what they may not do is not in it. It holds on to no part of the overview
 * once it is made.
 */
export function buildSchema({ snapshot, permissions, listed, scope, contributed, warn }: SchemaInput): GraphQLSchema {
  const names = assignNames(snapshot, scope, contributedTypeNames(contributed, scope), warn);
  const types = createTypeRegistry(createSchemaModel(names, permissions, listed));
  const contributions = createContributedFields(types, contributed, scope, warn);
  const query = mergeRootFields(createQueryFields(types), contributions.query, warn);
  const mutation = mergeRootFields(createMutationFields(types), contributions.mutation, warn);
  return new GraphQLSchema({
    query: createRootType('Query', query.length > 0 ? query : EMPTY_QUERY),
    ...(mutation.length > 0 ? { mutation: createRootType('Mutation', mutation) } : {}),
    // Variables inside JSON may be of these, whether or not a field is.
    types: specifiedScalarTypes,
    // Checking it all at run time would take longer than making it; tests do.
    assumeValid: true,
  });
}

const createRootType = (name: string, fields: RootFieldConfigs) =>
  new GraphQLObjectType({ name, fields: Object.fromEntries(fields) });

const EMPTY_QUERY: RootFieldConfigs = [
  ['_empty', { type: VoidScalar, extensions: bindingExtensions({ kind: 'nothing' }) }],
];

/** Fields of collections stay where another plugin calls its own the same. */
function mergeRootFields(collectionFields: RootFieldConfigs, more: RootFieldConfigs, warn: Warn): RootFieldConfigs {
  const takenNames = new Set(collectionFields.map(([name]) => name));
  return [
    ...collectionFields,
    ...more.filter(([name]) => {
      const isFree = !takenNames.has(name);
      if (!isFree) warn('a field is left out of GraphQL: another one is called the same', { field: name });
      takenNames.add(name);
      return isFree;
    }),
  ];
}
