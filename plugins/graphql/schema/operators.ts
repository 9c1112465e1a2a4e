import {
  GraphQLBoolean,
  type GraphQLEnumType,
  GraphQLID,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  type GraphQLScalarType,
  GraphQLString,
} from 'graphql';
import type { Operator } from '../../query/contract.ts';
import { ARRAY_OPERATORS, operatorsFor } from '../../query/library.ts';
import type { Field, FieldType } from '../../schema/contract.ts';
import { FUNCTIONS, type FunctionGroup } from './functions.ts';
import { BigIntScalar, GeoJsonScalar, JsonScalar, StringOrFloatScalar } from './scalars.ts';

const FLAGS: readonly Operator[] = ['_null', '_nnull', '_empty', '_nempty'];
const LISTS: readonly Operator[] = ['_in', '_nin', '_between', '_nbetween'];
/** Those that compare whole values; others look at the text. */
const WHOLE: readonly Operator[] = ['_eq', '_neq', '_in', '_nin'];

const OPERATOR_TYPES = new WeakSet<GraphQLInputObjectType>();

/**
 * Those that the engine takes for fields of a type: flags are true or false, some take lists, all others take one value of
 * the field's own kind.
 */
function operators(
  name: string,
  value: GraphQLScalarType | GraphQLEnumType,
  like: FieldType,
  text: GraphQLScalarType | GraphQLEnumType = value,
): GraphQLInputObjectType {
  const list = new GraphQLList(value);
  const typeOf = (one: Operator): GraphQLInputType =>
    FLAGS.includes(one) ? GraphQLBoolean : LISTS.includes(one) ? list : WHOLE.includes(one) ? value : text;
  const type = new GraphQLInputObjectType({
    name: `${name}_filter_operators`,
    fields: Object.fromEntries([...operatorsFor(like)].map((one) => [one, { type: typeOf(one) }])),
  });
  OPERATOR_TYPES.add(type);
  return type;
}

/** Of arrays: `_contains` takes one element, all others a list of them. */
function arrayOperators(): GraphQLInputObjectType {
  const list = new GraphQLList(JsonScalar);
  const typeOf = (one: Operator): GraphQLInputType =>
    FLAGS.includes(one) ? GraphQLBoolean : one.endsWith('contains') ? JsonScalar : list;
  return new GraphQLInputObjectType({
    name: 'list_filter_operators',
    fields: Object.fromEntries([...ARRAY_OPERATORS].map((one) => [one, { type: typeOf(one) }])),
  });
}
/** Whole values are those of the enum; what looks at their texts takes any. */
export const enumOperators = (type: GraphQLEnumType): GraphQLInputObjectType =>
  operators(type.name, type, 'string', GraphQLString);

/** By what is compared: the engine decides which there are. */
export const OPERATORS_OF = {
  string: operators('string', GraphQLString, 'string'),
  // Keys are of many types. What does not fit one of them is refused when it runs.
  id: operators('id', GraphQLID, 'unknown'),
  boolean: operators('boolean', GraphQLBoolean, 'boolean'),
  // Texts as well, since dynamic values are texts.
  number: operators('number', StringOrFloatScalar, 'float'),
  bigInt: operators('big_int', BigIntScalar, 'bigInteger'),
  date: operators('date', GraphQLString, 'date'),
  geometry: operators('geometry', GeoJsonScalar, 'geometry'),
  hash: operators('hash', GraphQLString, 'hash'),
  json: new GraphQLInputObjectType({
    name: 'json_filter_operators',
    fields: {
      _json: { type: JsonScalar, description: 'Conditions by their paths inside: `{ "a.b[0]": { _eq: 1 } }`.' },
      _null: { type: GraphQLBoolean },
      _nnull: { type: GraphQLBoolean },
    },
  }),
  // Elements are of many types. What does not fit is refused when it runs.
  list: arrayOperators(),
  unknown: operators('unknown', GraphQLString, 'unknown'),
} as const;

OPERATOR_TYPES.add(OPERATORS_OF.json);

/** Are these the operators of a condition? */
export const isOperators = (type: unknown): boolean => OPERATOR_TYPES.has(type as GraphQLInputObjectType);

/** What an operator compares with: a value or a list as a whole, or the two of a range; undefined where it compares nothing. */
export type Compared = 'value' | 'range';

export function comparedBy(type: GraphQLInputObjectType, name: string): Compared | undefined {
  // The value of an element may be a list or an object, which is no value of a variable that a statement is made without.
  if (type === OPERATORS_OF.list) return undefined;
  if (!OPERATOR_TYPES.has(type) || name === '_json' || FLAGS.includes(name as Operator)) return undefined;
  return name.endsWith('between') ? 'range' : 'value';
}

const BY_TYPE: Partial<Readonly<Record<FieldType, GraphQLInputObjectType>>> = {
  string: OPERATORS_OF.string,
  text: OPERATORS_OF.string,
  csv: OPERATORS_OF.string,
  binary: OPERATORS_OF.string,
  integer: OPERATORS_OF.number,
  decimal: OPERATORS_OF.number,
  float: OPERATORS_OF.number,
  bigInteger: OPERATORS_OF.bigInt,
  boolean: OPERATORS_OF.boolean,
  date: OPERATORS_OF.date,
  dateTime: OPERATORS_OF.date,
  time: OPERATORS_OF.date,
  timestamp: OPERATORS_OF.date,
  uuid: OPERATORS_OF.id,
  hash: OPERATORS_OF.hash,
  json: OPERATORS_OF.json,
  unknown: OPERATORS_OF.unknown,
};

/** What the value of a column may be compared with. */
export function operatorsOf(field: Field, isKey: boolean): GraphQLInputObjectType {
  if (field.concealed) return OPERATORS_OF.hash;
  if (field.column?.array) return OPERATORS_OF.list;
  return isKey ? OPERATORS_OF.id : (BY_TYPE[field.type] ?? OPERATORS_OF.geometry);
}

const functionOperators = (name: string, functions: readonly string[]) =>
  new GraphQLInputObjectType({
    name: `${name}_function_filter_operators`,
    fields: Object.fromEntries(functions.map((fn) => [fn, { type: OPERATORS_OF.number }])),
  });

const COUNT = functionOperators('count', FUNCTIONS.count);

export const FUNCTION_OPERATORS: Readonly<Record<FunctionGroup, GraphQLInputObjectType>> = {
  date: functionOperators('date', FUNCTIONS.date),
  time: functionOperators('time', FUNCTIONS.time),
  datetime: functionOperators('datetime', FUNCTIONS.datetime),
  count: COUNT,
  // What lies inside is compared by `_json`.
  json: COUNT,
};
