import type { ContributedGraphqlField } from '../../graphql/contract.ts';
import type { RelationCrud } from '../relation-verbs.ts';
import { CREATE_RELATION_GRAPHQL_INPUT, RELATION_GRAPHQL_TYPES, UPDATE_RELATION_GRAPHQL_INPUT } from './types.ts';

const query = {
  scope: 'system',
  operation: 'query',
  types: RELATION_GRAPHQL_TYPES,
  offeredTo: { collection: 'platform_relations', action: 'read' },
} as const;
const mutation = { scope: 'system', operation: 'mutation', offeredTo: 'admins' } as const;

/** The GraphQL queries and mutations of `/relations`. */
export const createRelationGraphqlFields = (verbs: RelationCrud): readonly ContributedGraphqlField[] => [
  {
    ...query,
    definition: 'relations: [platform_relations!]',
    resolve: (_args, { caller }) => verbs.list(caller),
  },
  {
    ...query,
    definition: 'relations_in_collection(collection: String!): [platform_relations!]',
    resolve: ({ collection }, { caller }) => verbs.listOf(caller, collection as string),
  },
  {
    ...query,
    definition: 'relations_by_name(collection: String!, field: String!): platform_relations',
    resolve: ({ collection, field }, { caller }) => verbs.get(caller, collection as string, field as string),
  },
  {
    ...mutation,
    definition: 'create_relations_item(data: create_platform_relations_input!): platform_relations',
    types: RELATION_GRAPHQL_TYPES + CREATE_RELATION_GRAPHQL_INPUT,
    resolve: ({ data }, { caller }) => verbs.create(caller, data),
  },
  {
    ...mutation,
    definition:
      'update_relations_item(collection: String!, field: String!, data: update_platform_relations_input!): platform_relations',
    types: RELATION_GRAPHQL_TYPES + UPDATE_RELATION_GRAPHQL_INPUT,
    resolve: ({ collection, field, data }, { caller }) =>
      verbs.update(caller, collection as string, field as string, data),
  },
  {
    ...mutation,
    definition: 'delete_relations_item(collection: String!, field: String!): delete_relation',
    types: 'type delete_relation { collection: String field: String }',
    async resolve({ collection, field }, { caller }) {
      await verbs.remove(caller, collection as string, field as string);
      return { collection, field };
    },
  },
];
