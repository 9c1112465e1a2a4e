import type { ContributedGraphqlField } from '../../graphql/contract.ts';
import type { FieldCrud } from '../field-verbs.ts';
import { CREATE_FIELD_GRAPHQL_INPUT, FIELD_GRAPHQL_TYPES, UPDATE_FIELD_GRAPHQL_INPUT } from './types.ts';

const query = {
  scope: 'system',
  operation: 'query',
  types: FIELD_GRAPHQL_TYPES,
  offeredTo: { collection: 'platform_fields', action: 'read' },
} as const;
const mutation = { scope: 'system', operation: 'mutation', offeredTo: 'admins' } as const;

/** The GraphQL queries and mutations of `/fields`. */
export const createFieldGraphqlFields = (verbs: FieldCrud): readonly ContributedGraphqlField[] => [
  {
    ...query,
    definition: 'fields: [platform_fields!]',
    resolve: (_args, { caller }) => verbs.list(caller),
  },
  {
    ...query,
    definition: 'fields_in_collection(collection: String!): [platform_fields!]',
    resolve: ({ collection }, { caller }) => verbs.listOf(caller, collection as string),
  },
  {
    ...query,
    definition: 'fields_by_name(collection: String!, field: String!): platform_fields',
    resolve: ({ collection, field }, { caller }) => verbs.get(caller, collection as string, field as string),
  },
  {
    ...mutation,
    definition: 'create_fields_item(collection: String!, data: create_platform_fields_input!): platform_fields',
    types: FIELD_GRAPHQL_TYPES + CREATE_FIELD_GRAPHQL_INPUT,
    resolve: ({ collection, data }, { caller }) => verbs.create(caller, collection as string, data),
  },
  {
    ...mutation,
    definition:
      'update_fields_item(collection: String!, field: String!, data: update_platform_fields_input!): platform_fields',
    types: FIELD_GRAPHQL_TYPES + UPDATE_FIELD_GRAPHQL_INPUT,
    resolve: ({ collection, field, data }, { caller }) =>
      verbs.update(caller, collection as string, field as string, data),
  },
  {
    ...mutation,
    definition: 'delete_fields_item(collection: String!, field: String!): delete_field',
    types: 'type delete_field { collection: String field: String }',
    async resolve({ collection, field }, { caller }) {
      await verbs.remove(caller, collection as string, field as string);
      return { collection, field };
    },
  },
];
