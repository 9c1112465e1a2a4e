import type { ContributedGraphqlField } from '../../graphql/contract.ts';
import type { CollectionCrud } from '../collection-verbs.ts';
import { COLLECTION_GRAPHQL_TYPES, CREATE_COLLECTION_GRAPHQL_INPUT, UPDATE_COLLECTION_GRAPHQL_INPUT } from './types.ts';

const query = {
  scope: 'system',
  operation: 'query',
  types: COLLECTION_GRAPHQL_TYPES,
  offeredTo: { collection: 'platform_collections', action: 'read' },
} as const;
const mutation = { scope: 'system', operation: 'mutation', offeredTo: 'admins' } as const;

/** The GraphQL queries and mutations of `/collections`. */
export const createCollectionGraphqlFields = (verbs: CollectionCrud): readonly ContributedGraphqlField[] => [
  {
    ...query,
    definition: 'collections: [platform_collections!]',
    resolve: (_args, { caller }) => verbs.list(caller),
  },
  {
    ...query,
    definition: 'collections_by_name(name: String!): platform_collections',
    resolve: ({ name }, { caller }) => verbs.get(caller, name as string),
  },
  {
    ...mutation,
    definition: 'create_collections_item(data: create_platform_collections_input!): platform_collections',
    types: COLLECTION_GRAPHQL_TYPES + CREATE_COLLECTION_GRAPHQL_INPUT,
    resolve: ({ data }, { caller }) => verbs.create(caller, data),
  },
  {
    ...mutation,
    definition:
      'update_collections_item(collection: String!, data: update_platform_collections_input!): platform_collections',
    types: COLLECTION_GRAPHQL_TYPES + UPDATE_COLLECTION_GRAPHQL_INPUT,
    resolve: ({ collection, data }, { caller }) => verbs.update(caller, collection as string, data),
  },
  {
    ...mutation,
    definition: 'delete_collections_item(collection: String!): delete_collection',
    types: 'type delete_collection { collection: String }',
    async resolve({ collection }, { caller }) {
      await verbs.remove(caller, collection as string);
      return { collection };
    },
  },
];
