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
import type { RowBinding } from './binding.ts';
import { ColumnEnum, type ColumnEnums, elementType } from './enum-types.ts';
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

/** The enum whose values a field shows: not that of a key, which is an `ID`, or of a mask. */
export function enumOf(enums: ColumnEnums, collection: Collection, field: Field): ColumnEnum | undefined {
  const { column, concealed, type } = field;
  if (!column?.enumValues || concealed || type === 'hash' || isPrimaryKey(collection, field)) return undefined;
  return enums.get(elementType(column));
}

/** What the value of a column is, in answers and in payloads. */
export function leafType(enums: ColumnEnums, collection: Collection, field: Field): LeafType {
  if (field.concealed || field.type === 'hash') return HashScalar;
  const values = enumOf(enums, collection, field);
  if (values) return field.column?.array ? new GraphQLList(values) : values;
  if (field.column?.array) return JsonScalar;
  return isPrimaryKey(collection, field) ? GraphQLID : (BY_TYPE[field.type] ?? GeoJsonScalar);
}

/** Types whose value in REST is not a text. */
const NON_TEXT_TYPES: readonly FieldType[] = ['integer', 'float', 'boolean'];

/** In which form it reads where that is not the one of REST: an `ID` is a text, a `Float` a number, a value of an enum its name. */
export function columnFormat(field: Field, type: LeafType): Pick<Extract<RowBinding, { kind: 'column' }>, 'as'> {
  const one = type instanceof GraphQLList ? type.ofType : type;
  if (one instanceof ColumnEnum) return one.labels ? { as: { labels: one.labels } } : {};
  if ((type === GraphQLID || type === GraphQLString) && NON_TEXT_TYPES.includes(field.type)) return { as: 'text' };
  return type === GraphQLFloat ? { as: 'number' } : {};
}

/** Types of which some values read as null although the column is not null: NaN and infinity, and null inside JSON. */
const MAY_READ_AS_NULL: readonly FieldType[] = ['decimal', 'float', 'json'];

/**
 * Non-null where a row cannot be without it (conventions, "Types"): a key, or what has to be given with every row. Nothing of
 * a singleton, which answers before it has a row.
 */
export function withNullability(collection: Collection, field: Field, type: LeafType, availability: 'always' | 'some') {
  const { column } = field;
  if (availability === 'some' || !column || collection.singleton) return type;
  if (isPrimaryKey(collection, field)) return field.type === 'json' ? type : new GraphQLNonNull(type);
  const isAlwaysSet = !column.nullable && column.default === null && !column.generated;
  return isAlwaysSet && !field.relation && !MAY_READ_AS_NULL.includes(field.type) ? new GraphQLNonNull(type) : type;
}
