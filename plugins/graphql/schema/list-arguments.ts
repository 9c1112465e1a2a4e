import { type GraphQLFieldConfigArgumentMap, GraphQLInt, GraphQLList, GraphQLString } from 'graphql';
import { UNBOUND } from './binding.ts';
import type { Types } from './types.ts';

const PLAIN: GraphQLFieldConfigArgumentMap = {
  sort: { type: new GraphQLList(GraphQLString), extensions: UNBOUND },
  limit: { type: GraphQLInt, extensions: UNBOUND },
  offset: { type: GraphQLInt, extensions: UNBOUND },
  page: { type: GraphQLInt, extensions: UNBOUND },
  search: { type: GraphQLString, extensions: UNBOUND },
};

/** What is said about a list of rows of a collection that is in the schema. */
export function listArguments(types: Types, collection: string): GraphQLFieldConfigArgumentMap {
  const filter = types.of('filter', collection);
  return {
    ...(filter ? { filter: { type: filter, extensions: UNBOUND } } : {}),
    ...PLAIN,
  };
}
