import { type GraphQLFieldConfig, GraphQLFloat, GraphQLInt, GraphQLObjectType, type GraphQLScalarType } from 'graphql';
import type { AggregateName } from '../../query/contract.ts';
import type { Field, FieldType } from '../../schema/contract.ts';
import { bound } from './binding.ts';
import { fieldDescription, fieldName, typeName } from './names.ts';
import { JsonScalar } from './scalars.ts';
import type { Types } from './types.ts';

const COUNTS = ['count', 'countDistinct'] as const;
const NUMBERS = ['avg', 'sum', 'avgDistinct', 'sumDistinct', 'min', 'max'] as const;
const NUMERIC: readonly FieldType[] = ['integer', 'bigInteger', 'decimal', 'float'];

/** A group of rows. */
export function aggregatedType(types: Types, collection: string): GraphQLObjectType | undefined {
  const named = types.model.names.collections.get(collection);
  if (!named || !types.model.readable.has(collection)) return undefined;
  const each = (names: readonly AggregateName[], type: GraphQLObjectType | undefined) =>
    type ? names.map((name) => [name, { type, extensions: bound({ kind: 'aggregate', name }) }]) : [];
  return new GraphQLObjectType({
    name: typeName('groups', named.name),
    fields: () => ({
      group: { type: JsonScalar, extensions: bound({ kind: 'groups' }) },
      countAll: { type: GraphQLInt, extensions: bound({ kind: 'count' }) },
      ...Object.fromEntries([
        ...each(COUNTS, types.of('counts', collection)),
        ...each(NUMBERS, types.of('numbers', collection)),
      ]),
    }),
  });
}

/** How many values of each field. Of what is concealed not even that is told. */
export const countsType = (types: Types, collection: string): GraphQLObjectType | undefined =>
  typeOf(types, collection, 'counts', GraphQLInt, ({ column, concealed }) => column !== null && !concealed);

export const numbersType = (types: Types, collection: string): GraphQLObjectType | undefined =>
  typeOf(
    types,
    collection,
    'numbers',
    GraphQLFloat,
    ({ type, column, concealed }) => NUMERIC.includes(type) && !column?.array && !concealed,
  );

function typeOf(
  types: Types,
  collection: string,
  kind: 'counts' | 'numbers',
  type: GraphQLScalarType,
  fits: (field: Field) => boolean,
): GraphQLObjectType | undefined {
  const named = types.model.names.collections.get(collection);
  const fields = (types.model.readable.get(collection) ?? []).map(({ field }) => field).filter(fits);
  if (!named || fields.length === 0) return undefined;
  const config = (field: Field): GraphQLFieldConfig<unknown, unknown> => ({
    type,
    ...(named.aliases.has(field.name) ? { description: fieldDescription(named, field) } : {}),
    extensions: bound({ kind: 'aggregated field', field: field.name }),
  });
  return new GraphQLObjectType({
    name: typeName(kind, named.name),
    fields: () => Object.fromEntries(fields.map((field) => [fieldName(named, field), config(field)])),
  });
}
