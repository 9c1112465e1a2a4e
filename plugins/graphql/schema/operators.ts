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
import type { FilterOperator } from '../../query/contract.ts';
import { ARRAY_OPERATORS, filterOperatorsOfFieldType } from '../../query/library.ts';
import type { Field, FieldType } from '../../schema/contract.ts';
import { FIELD_FUNCTION_NAMES_BY_GROUP, type FieldFunctionGroup } from './field-function-types.ts';
import { BigIntScalar, GeoJsonScalar, JsonScalar, StringOrFloatScalar } from './scalars.ts';

const FLAG_OPERATORS: readonly FilterOperator[] = ['_null', '_nnull', '_empty', '_nempty'];
const LIST_OPERATORS: readonly FilterOperator[] = ['_in', '_nin', '_between', '_nbetween'];
/** Operators that compare whole values; others compare the text. */
const WHOLE_VALUE_OPERATORS: readonly FilterOperator[] = ['_eq', '_neq', '_in', '_nin'];

const OPERATOR_TYPES = new WeakSet<GraphQLInputObjectType>();

/**
 * The input of the operators that the engine has for a field type: flags take a Boolean, some operators a list, all
 * others one value.
 */
function createOperators(
  name: string,
  value: GraphQLScalarType | GraphQLEnumType,
  like: FieldType,
  text: GraphQLScalarType | GraphQLEnumType = value,
): GraphQLInputObjectType {
  const list = new GraphQLList(value);
  const typeOf = (one: FilterOperator): GraphQLInputType =>
    FLAG_OPERATORS.includes(one)
      ? GraphQLBoolean
      : LIST_OPERATORS.includes(one)
        ? list
        : WHOLE_VALUE_OPERATORS.includes(one)
          ? value
          : text;
  const type = new GraphQLInputObjectType({
    name: `${name}_filter_operators`,
    fields: Object.fromEntries([...filterOperatorsOfFieldType(like)].map((one) => [one, { type: typeOf(one) }])),
  });
  OPERATOR_TYPES.add(type);
  return type;
}

/** The operators of arrays: `_contains` takes one element, all others a list. */
function createArrayOperators(): GraphQLInputObjectType {
  const list = new GraphQLList(JsonScalar);
  const typeOf = (one: FilterOperator): GraphQLInputType =>
    FLAG_OPERATORS.includes(one) ? GraphQLBoolean : one.endsWith('contains') ? JsonScalar : list;
  return new GraphQLInputObjectType({
    name: 'list_filter_operators',
    fields: Object.fromEntries([...ARRAY_OPERATORS].map((one) => [one, { type: typeOf(one) }])),
  });
}
/** The operators of an enum: those on whole values take the enum, those on texts any text. */
export const createEnumOperators = (type: GraphQLEnumType): GraphQLInputObjectType =>
  createOperators(type.name, type, 'string', GraphQLString);

/** Operator inputs by kind of value. The engine decides which operators exist. */
export const OPERATOR_INPUTS_BY_VALUE_KIND = {
  string: createOperators('string', GraphQLString, 'string'),
  // Keys have many types. The engine refuses values of a wrong type.
  id: createOperators('id', GraphQLID, 'unknown'),
  boolean: createOperators('boolean', GraphQLBoolean, 'boolean'),
  // Accepts texts, since dynamic values are texts.
  number: createOperators('number', StringOrFloatScalar, 'float'),
  bigInt: createOperators('big_int', BigIntScalar, 'bigInteger'),
  date: createOperators('date', GraphQLString, 'date'),
  geometry: createOperators('geometry', GeoJsonScalar, 'geometry'),
  hash: createOperators('hash', GraphQLString, 'hash'),
  json: new GraphQLInputObjectType({
    name: 'json_filter_operators',
    fields: {
      _json: { type: JsonScalar, description: 'Conditions by their paths inside: `{ "a.b[0]": { _eq: 1 } }`.' },
      _null: { type: GraphQLBoolean },
      _nnull: { type: GraphQLBoolean },
    },
  }),
  // Elements have many types. The engine refuses values of a wrong type.
  list: createArrayOperators(),
  unknown: createOperators('unknown', GraphQLString, 'unknown'),
} as const;

OPERATOR_TYPES.add(OPERATOR_INPUTS_BY_VALUE_KIND.json);

/** Whether a GraphQL type is an input of filter operators. */
export const isOperatorsType = (type: unknown): boolean => OPERATOR_TYPES.has(type as GraphQLInputObjectType);

/** What an operator compares with: a value or a whole list, or the two bounds of a range. */
export type OperandKind = 'value' | 'range';

export function operandKindOf(type: GraphQLInputObjectType, name: string): OperandKind | undefined {
  // An element may be a list or an object, which cannot be a placeholder.
  if (type === OPERATOR_INPUTS_BY_VALUE_KIND.list) return undefined;
  if (!OPERATOR_TYPES.has(type) || name === '_json' || FLAG_OPERATORS.includes(name as FilterOperator))
    return undefined;
  return name.endsWith('between') ? 'range' : 'value';
}

const BY_TYPE: Partial<Readonly<Record<FieldType, GraphQLInputObjectType>>> = {
  string: OPERATOR_INPUTS_BY_VALUE_KIND.string,
  text: OPERATOR_INPUTS_BY_VALUE_KIND.string,
  csv: OPERATOR_INPUTS_BY_VALUE_KIND.string,
  binary: OPERATOR_INPUTS_BY_VALUE_KIND.string,
  integer: OPERATOR_INPUTS_BY_VALUE_KIND.number,
  decimal: OPERATOR_INPUTS_BY_VALUE_KIND.number,
  float: OPERATOR_INPUTS_BY_VALUE_KIND.number,
  bigInteger: OPERATOR_INPUTS_BY_VALUE_KIND.bigInt,
  boolean: OPERATOR_INPUTS_BY_VALUE_KIND.boolean,
  date: OPERATOR_INPUTS_BY_VALUE_KIND.date,
  dateTime: OPERATOR_INPUTS_BY_VALUE_KIND.date,
  time: OPERATOR_INPUTS_BY_VALUE_KIND.date,
  timestamp: OPERATOR_INPUTS_BY_VALUE_KIND.date,
  uuid: OPERATOR_INPUTS_BY_VALUE_KIND.id,
  hash: OPERATOR_INPUTS_BY_VALUE_KIND.hash,
  json: OPERATOR_INPUTS_BY_VALUE_KIND.json,
  unknown: OPERATOR_INPUTS_BY_VALUE_KIND.unknown,
};

/** The GraphQL input type with the filter operators of a column. */
export function filterOperatorsInputOf(field: Field, isKey: boolean): GraphQLInputObjectType {
  if (field.concealed) return OPERATOR_INPUTS_BY_VALUE_KIND.hash;
  if (field.column?.array) return OPERATOR_INPUTS_BY_VALUE_KIND.list;
  return isKey ? OPERATOR_INPUTS_BY_VALUE_KIND.id : (BY_TYPE[field.type] ?? OPERATOR_INPUTS_BY_VALUE_KIND.geometry);
}

const createFunctionOperators = (name: string, functions: readonly string[]) =>
  new GraphQLInputObjectType({
    name: `${name}_function_filter_operators`,
    fields: Object.fromEntries(functions.map((fn) => [fn, { type: OPERATOR_INPUTS_BY_VALUE_KIND.number }])),
  });

const COUNT = createFunctionOperators('count', FIELD_FUNCTION_NAMES_BY_GROUP.count);

export const FUNCTION_OPERATORS: Readonly<Record<FieldFunctionGroup, GraphQLInputObjectType>> = {
  date: createFunctionOperators('date', FIELD_FUNCTION_NAMES_BY_GROUP.date),
  time: createFunctionOperators('time', FIELD_FUNCTION_NAMES_BY_GROUP.time),
  datetime: createFunctionOperators('datetime', FIELD_FUNCTION_NAMES_BY_GROUP.datetime),
  count: COUNT,
  // Values inside a JSON column are compared by `_json`.
  json: COUNT,
};
