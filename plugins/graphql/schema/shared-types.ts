import {
  GraphQLEnumType,
  GraphQLID,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLNonNull,
  GraphQLObjectType,
  specifiedScalarTypes,
} from 'graphql';
import { FUNCTION_TYPES } from './field-function-types.ts';
import { FUNCTION_OPERATORS, OPERATOR_INPUTS_BY_VALUE_KIND } from './operators.ts';
import { SCALARS } from './scalars.ts';

/** The answers of delete mutations. */
export const DELETE_ONE_TYPE = new GraphQLObjectType({
  name: 'delete_one',
  fields: { id: { type: new GraphQLNonNull(GraphQLID) } },
});
export const DELETE_MANY_TYPE = new GraphQLObjectType({
  name: 'delete_many',
  fields: { ids: { type: new GraphQLNonNull(new GraphQLList(GraphQLID)) } },
});

/** What happened to a row: only in schemas with subscriptions. */
export const ROW_CHANGE_EVENT_ENUM = new GraphQLEnumType({
  name: 'EventEnum',
  values: { create: {}, update: {}, delete: {} },
});

/** GraphQL types that the schemas of all callers share, by name. */
export const SHARED_TYPES: ReadonlyMap<string, GraphQLNamedType> = new Map(
  [
    ...specifiedScalarTypes,
    ...SCALARS,
    ...Object.values(FUNCTION_TYPES),
    ...Object.values(OPERATOR_INPUTS_BY_VALUE_KIND),
    ...Object.values(FUNCTION_OPERATORS),
    DELETE_ONE_TYPE,
    DELETE_MANY_TYPE,
  ].map((type) => [type.name, type]),
);

/** Type names that no collection may have. */
export const RESERVED_TYPE_NAMES: readonly string[] = [
  'Query',
  'Mutation',
  'Subscription',
  ...SHARED_TYPES.keys(),
  // Synonyms for types of variables (document/parse.ts).
  'GraphQLBigInt',
  'GraphQLGeoJSON',
  'GraphQLStringOrFloat',
];
