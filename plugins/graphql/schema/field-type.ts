import {
  GraphQLBoolean,
  type GraphQLEnumType,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLScalarType,
  GraphQLString,
} from 'graphql';
import type { Collection, Field, FieldType } from '../../schema/contract.ts';
import { ColumnEnumGraphqlType, type ColumnEnums, elementSqlType } from './enum-types.ts';
import type { RowFieldBinding } from './field-bindings.ts';
import { BigIntScalar, DateScalar, GeoJsonScalar, HashScalar, JsonScalar } from './scalars.ts';

type ScalarOrEnum = GraphQLScalarType | GraphQLEnumType;
export type LeafType = ScalarOrEnum | GraphQLList<ScalarOrEnum>;

const TEXTS = new GraphQLList(GraphQLString);

const BY_TYPE: Partial<Readonly<Record<FieldType, LeafType>>> = {
  string: GraphQLString,
  text: GraphQLString,
  binary: GraphQLString,
  unknown: GraphQLString,
  boolean: GraphQLBoolean,
  integer: GraphQLInt,
  bigInteger: BigIntScalar,
  decimal: GraphQLFloat,
  float: GraphQLFloat,
  csv: TEXTS,
  json: JsonScalar,
  date: DateScalar,
  dateTime: DateScalar,
  time: DateScalar,
  timestamp: DateScalar,
  uuid: GraphQLID,
};

export const isPrimaryKey = (collection: Collection, field: Field): boolean => collection.primary === field.name;

/** The enum type of a field; none for a key, which is an `ID`, and for a concealed field. */
export function columnEnumOf(
  enums: ColumnEnums,
  collection: Collection,
  field: Field,
): ColumnEnumGraphqlType | undefined {
  const { column, concealed, type } = field;
  if (!column?.enumValues || concealed || type === 'hash' || isPrimaryKey(collection, field)) return undefined;
  return enums.get(elementSqlType(column));
}

/** The type of a column's value in answers and payloads. */
export function graphqlLeafTypeOf(enums: ColumnEnums, collection: Collection, field: Field): LeafType {
  if (field.concealed || field.type === 'hash') return HashScalar;
  const values = columnEnumOf(enums, collection, field);
  if (values) return field.column?.array ? new GraphQLList(values) : values;
  if (field.column?.array) return JsonScalar;
  return isPrimaryKey(collection, field) ? GraphQLID : (BY_TYPE[field.type] ?? GeoJsonScalar);
}

/** Types whose values in REST are no texts. */
const NON_TEXT_TYPES: readonly FieldType[] = ['integer', 'float', 'boolean'];

/** The output format where it differs from REST: an `ID` is a text, a `Float` a number, an enum value its name. */
export function graphqlOutputFormatOf(
  field: Field,
  type: LeafType,
): Pick<Extract<RowFieldBinding, { kind: 'column' }>, 'as'> {
  const elementOrValue = type instanceof GraphQLList ? type.ofType : type;
  if (elementOrValue instanceof ColumnEnumGraphqlType)
    return elementOrValue.labels ? { as: { labels: elementOrValue.labels } } : {};
  if ((type === GraphQLID || type === GraphQLString) && NON_TEXT_TYPES.includes(field.type)) return { as: 'text' };
  return type === GraphQLFloat ? { as: 'number' } : {};
}

/** Types with values that read as null in a non-null column: NaN, infinity, and null as JSON. */
const MAY_READ_AS_NULL: readonly FieldType[] = ['decimal', 'float', 'json'];

/**
 * Makes the type non-null for keys and for columns that every row must have (conventions, "Types"). Fields of a
 * singleton stay nullable, since it is answered before it has a row.
 */
export function withNullability(collection: Collection, field: Field, type: LeafType, availability: 'always' | 'some') {
  const { column } = field;
  if (availability === 'some' || !column || collection.singleton) return type;
  if (isPrimaryKey(collection, field)) return field.type === 'json' ? type : new GraphQLNonNull(type);
  const isAlwaysSet = !column.nullable && column.default === null && !column.generated;
  return isAlwaysSet && !field.relation && !MAY_READ_AS_NULL.includes(field.type) ? new GraphQLNonNull(type) : type;
}
