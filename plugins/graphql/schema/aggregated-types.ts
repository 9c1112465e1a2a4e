import { type GraphQLFieldConfig, GraphQLFloat, GraphQLInt, GraphQLObjectType, type GraphQLScalarType } from 'graphql';
import type { AggregateName } from '../../query/contract.ts';
import type { Field, FieldType } from '../../schema/contract.ts';
import { createFieldBindingExtensions } from './field-bindings.ts';
import { JsonScalar } from './scalars.ts';
import { graphqlFieldDescription, graphqlFieldName, graphqlTypeName } from './schema-names.ts';
import type { CollectionGraphqlTypeRegistry } from './type-registry.ts';

const COUNT_FUNCTIONS = ['count', 'countDistinct'] as const;
const NUMERIC_FUNCTIONS = ['avg', 'sum', 'avgDistinct', 'sumDistinct', 'min', 'max'] as const;
const NUMERIC_TYPES: readonly FieldType[] = ['integer', 'bigInteger', 'decimal', 'float'];

/** The GraphQL object type of a group of rows: its group keys, count and aggregates. */
export function createAggregatedObjectType(
  types: CollectionGraphqlTypeRegistry,
  collection: string,
): GraphQLObjectType | undefined {
  const named = types.model.names.collections.get(collection);
  if (!named || !types.model.readable.has(collection)) return undefined;
  const createFields = (names: readonly AggregateName[], type: GraphQLObjectType | undefined) =>
    type
      ? names.map((name) => [name, { type, extensions: createFieldBindingExtensions({ kind: 'aggregate', name }) }])
      : [];
  return new GraphQLObjectType({
    name: graphqlTypeName('groups', named.name),
    fields: () => ({
      group: { type: JsonScalar, extensions: createFieldBindingExtensions({ kind: 'groups' }) },
      countAll: { type: GraphQLInt, extensions: createFieldBindingExtensions({ kind: 'count' }) },
      ...Object.fromEntries([
        ...createFields(COUNT_FUNCTIONS, types.get('counts', collection)),
        ...createFields(NUMERIC_FUNCTIONS, types.get('numbers', collection)),
      ]),
    }),
  });
}

/** The GraphQL object type with a count of values for each field. Concealed fields have no counts. */
export const createFieldCountsObjectType = (
  types: CollectionGraphqlTypeRegistry,
  collection: string,
): GraphQLObjectType | undefined =>
  createFieldsType(types, collection, 'counts', GraphQLInt, ({ column, concealed }) => column !== null && !concealed);

export const createNumericAggregatesType = (
  types: CollectionGraphqlTypeRegistry,
  collection: string,
): GraphQLObjectType | undefined =>
  createFieldsType(
    types,
    collection,
    'numbers',
    GraphQLFloat,
    ({ type, column, concealed }) => NUMERIC_TYPES.includes(type) && !column?.array && !concealed,
  );

function createFieldsType(
  types: CollectionGraphqlTypeRegistry,
  collection: string,
  kind: 'counts' | 'numbers',
  type: GraphQLScalarType,
  isIncluded: (field: Field) => boolean,
): GraphQLObjectType | undefined {
  const named = types.model.names.collections.get(collection);
  const fields = (types.model.readable.get(collection) ?? []).map(({ field }) => field).filter(isIncluded);
  if (!named || fields.length === 0) return undefined;
  const config = (field: Field): GraphQLFieldConfig<unknown, unknown> => ({
    type,
    ...(named.aliases.has(field.name) ? { description: graphqlFieldDescription(named, field) } : {}),
    extensions: createFieldBindingExtensions({ kind: 'aggregated field', field: field.name }),
  });
  return new GraphQLObjectType({
    name: graphqlTypeName(kind, named.name),
    fields: () => Object.fromEntries(fields.map((field) => [graphqlFieldName(named, field), config(field)])),
  });
}
