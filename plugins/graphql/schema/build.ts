import { GraphQLObjectType, GraphQLSchema, specifiedScalarTypes } from 'graphql';
import type { AccessControl, PermissionSet } from '../../access/contract.ts';
import type { SchemaOverview } from '../../schema/contract.ts';
import type { GraphqlScope } from '../contract.ts';
import { type ContributedFields, contributedTypeNames, createContributedFields } from './contributed-fields.ts';
import { createFieldBindingExtensions } from './field-bindings.ts';
import { createMutationFields } from './mutation-fields.ts';
import { createPermittedSchemaModel } from './permitted-collections-and-fields.ts';
import { createQueryFields, type RootFieldConfigs } from './query-fields.ts';
import { VoidScalar } from './scalars.ts';
import { assignGraphqlNames, type LogWarning } from './schema-names.ts';
import { createCollectionGraphqlTypeRegistry } from './type-registry.ts';

export interface CallerGraphqlSchemaInput {
  readonly snapshot: SchemaOverview;
  readonly permissions: PermissionSet;
  readonly permittedFields: AccessControl['permittedFields'];
  readonly scope: GraphqlScope;
  readonly contributed: ContributedFields;
  /** Called for fields and names that are left out; for names once for each schema snapshot. */
  readonly warn: LogWarning;
}

/**
 * Builds the schema for callers with these permissions, without anything they may not do. The result holds no reference
 * to the schema snapshot.
 */
export function buildCallerGraphqlSchema({
  snapshot,
  permissions,
  permittedFields,
  scope,
  contributed,
  warn,
}: CallerGraphqlSchemaInput): GraphQLSchema {
  const names = assignGraphqlNames(snapshot, scope, contributedTypeNames(contributed, scope), warn);
  const types = createCollectionGraphqlTypeRegistry(createPermittedSchemaModel(names, permissions, permittedFields));
  const contributions = createContributedFields(types, contributed, scope, warn);
  const query = mergeRootFields(createQueryFields(types), contributions.query, warn);
  const mutation = mergeRootFields(createMutationFields(types), contributions.mutation, warn);
  return new GraphQLSchema({
    query: createRootType('Query', query.length > 0 ? query : EMPTY_QUERY),
    ...(mutation.length > 0 ? { mutation: createRootType('Mutation', mutation) } : {}),
    // Variables inside JSON may have these types, even if no field has.
    types: specifiedScalarTypes,
    // Validating takes longer than building; tests validate.
    assumeValid: true,
  });
}

const createRootType = (name: string, fields: RootFieldConfigs) =>
  new GraphQLObjectType({ name, fields: Object.fromEntries(fields) });

const EMPTY_QUERY: RootFieldConfigs = [
  ['_empty', { type: VoidScalar, extensions: createFieldBindingExtensions({ kind: 'nothing' }) }],
];

/** Adds contributed fields, except those with the name of a collection field. */
function mergeRootFields(
  collectionFields: RootFieldConfigs,
  contributedFields: RootFieldConfigs,
  warn: LogWarning,
): RootFieldConfigs {
  const takenNames = new Set(collectionFields.map(([name]) => name));
  return [
    ...collectionFields,
    ...contributedFields.filter(([name]) => {
      const isFree = !takenNames.has(name);
      if (!isFree) warn('a field is left out of GraphQL: another field has the same name', { field: name });
      takenNames.add(name);
      return isFree;
    }),
  ];
}
