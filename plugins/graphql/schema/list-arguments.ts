import { type GraphQLFieldConfigArgumentMap, GraphQLInt, GraphQLList, GraphQLString } from 'graphql';
import { NO_GRAPHQL_EXTENSIONS } from './field-bindings.ts';
import type { CollectionGraphqlTypeRegistry } from './type-registry.ts';

const COMMON_ARGUMENTS: GraphQLFieldConfigArgumentMap = {
  sort: { type: new GraphQLList(GraphQLString), extensions: NO_GRAPHQL_EXTENSIONS },
  limit: { type: GraphQLInt, extensions: NO_GRAPHQL_EXTENSIONS },
  offset: { type: GraphQLInt, extensions: NO_GRAPHQL_EXTENSIONS },
  page: { type: GraphQLInt, extensions: NO_GRAPHQL_EXTENSIONS },
  search: { type: GraphQLString, extensions: NO_GRAPHQL_EXTENSIONS },
};

/** The list arguments of a field that answers rows of a collection. */
export function createListFieldArguments(
  types: CollectionGraphqlTypeRegistry,
  collection: string,
): GraphQLFieldConfigArgumentMap {
  const filter = types.get('filter', collection);
  return {
    ...(filter ? { filter: { type: filter, extensions: NO_GRAPHQL_EXTENSIONS } } : {}),
    ...COMMON_ARGUMENTS,
  };
}
