import { GraphQLObjectType, GraphQLSchema, specifiedScalarTypes } from 'graphql';
import type { AccessControl, PermissionSet } from '../../access/contract.ts';
import type { SchemaOverview } from '../../schema/contract.ts';
import type { GraphqlScope, SubscriptionSource } from '../contract.ts';
import { type ContributedFields, contributedTypeNames, createContributedFields } from './contributed-fields.ts';
import { createFieldBindingExtensions } from './field-bindings.ts';
import { createMutationFields } from './mutation-fields.ts';
import { createPermittedSchemaModel } from './permitted-collections-and-fields.ts';
import { createQueryFields, type RootFieldConfigs } from './query-fields.ts';
import { createRowChangeFields } from './row-change-types.ts';
import { VoidScalar } from './scalars.ts';
import { assignGraphqlNames, type LogWarning } from './schema-names.ts';
import { createCollectionGraphqlTypeRegistry } from './type-registry.ts';

export interface CallerGraphqlSchemaInput {
  readonly snapshot: SchemaOverview;
  readonly permissions: PermissionSet;
  readonly permittedFields: AccessControl['permittedFields'];
  readonly scope: GraphqlScope;
  readonly contributed: ContributedFields;
  /** Adds `Subscription` to the scope `items`; undefined without subscriptions. */
  readonly subscriptions?: SubscriptionSource | undefined;
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
  subscriptions,
  warn,
}: CallerGraphqlSchemaInput): GraphQLSchema {
  const source = scope === 'items' ? subscriptions : undefined;
  const names = assignGraphqlNames(
    snapshot,
    scope,
    contributedTypeNames(contributed, scope),
    source !== undefined,
    warn,
  );
  const types = createCollectionGraphqlTypeRegistry(createPermittedSchemaModel(names, permissions, permittedFields));
  const contributions = createContributedFields(types, contributed, scope, warn);
  const query = mergeRootFields(createQueryFields(types), contributions.query, warn);
  const mutation = mergeRootFields(createMutationFields(types), contributions.mutation, warn);
  const subscription = source ? createRowChangeFields(types, source) : [];
  return new GraphQLSchema({
    query: createRootType('Query', query.length > 0 ? query : EMPTY_QUERY),
    ...(mutation.length > 0 ? { mutation: createRootType('Mutation', mutation) } : {}),
    ...(subscription.length > 0 ? { subscription: createRootType('Subscription', subscription) } : {}),
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
