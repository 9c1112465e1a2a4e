import {
  GraphQLBoolean,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLScalarType,
  GraphQLString,
} from 'graphql';
import type { Collection, Field, FieldType } from '../../schema/contract.ts';
import { BigIntScalar, DateScalar, GeoJsonScalar, HashScalar, JsonScalar } from './scalars.ts';

export type LeafType = GraphQLScalarType | GraphQLList<GraphQLScalarType>;

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

export const isKey = (collection: Collection, field: Field): boolean => collection.primary === field.name;

/** What the value of a column is, in answers and in payloads. */
export function leafType(collection: Collection, field: Field): LeafType {
  if (field.concealed || field.type === 'hash') return HashScalar;
  if (field.column?.array) return JsonScalar;
  return isKey(collection, field) ? GraphQLID : (BY_TYPE[field.type] ?? GeoJsonScalar);
}

/** Types whose value in REST is not a text. */
const NOT_TEXT: readonly FieldType[] = ['integer', 'float', 'boolean'];

/** In which form it reads where that is not the one of REST: an `ID` is a text, a `Float` a number. */
export function formOf(field: Field, type: LeafType): { readonly as?: 'text' | 'number' } {
  if ((type === GraphQLID || type === GraphQLString) && NOT_TEXT.includes(field.type)) return { as: 'text' };
  return type === GraphQLFloat ? { as: 'number' } : {};
}

/** Types of which some values read as null although the column is not null: NaN and infinity, and null inside JSON. */
const NEVER_CERTAIN: readonly FieldType[] = ['decimal', 'float', 'json'];

/**
 * Non-null where a row cannot be without it (conventions, "Types"): a key, or what has to be given with every row. Nothing of
 * a singleton, which answers before it has a row.
 */
export function withNull(collection: Collection, field: Field, type: LeafType, counts: 'always' | 'some') {
  const { column } = field;
  if (counts === 'some' || !column || collection.singleton) return type;
  if (isKey(collection, field)) return field.type === 'json' ? type : new GraphQLNonNull(type);
  const isGiven = !column.nullable && column.default === null && !column.generated;
  return isGiven && !field.relation && !NEVER_CERTAIN.includes(field.type) ? new GraphQLNonNull(type) : type;
}
