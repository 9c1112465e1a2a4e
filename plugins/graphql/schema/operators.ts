import {
  GraphQLBoolean,
  GraphQLID,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  type GraphQLScalarType,
  GraphQLString,
} from 'graphql';
import type { Operator } from '../../query/contract.ts';
import type { Field, FieldType } from '../../schema/contract.ts';
import { FUNCTIONS, type FunctionGroup } from './functions.ts';
import { BigIntScalar, GeoJsonScalar, JsonScalar, StringOrFloatScalar } from './scalars.ts';

// What the engine takes for each type of field (query/parse/operators.ts); a test compares the two.

const NULLS = ['_null', '_nnull'] as const;
const EMPTIES = ['_empty', '_nempty'] as const;
const EQUAL = ['_eq', '_neq'] as const;
const ORDER = ['_lt', '_lte', '_gt', '_gte', '_between', '_nbetween'] as const;
const MEMBER = ['_in', '_nin'] as const;
// biome-ignore format: a table by kind
const TEXT = [
  '_ieq', '_nieq', '_contains', '_ncontains', '_icontains', '_nicontains', '_starts_with', '_nstarts_with',
  '_istarts_with', '_nistarts_with', '_ends_with', '_nends_with', '_iends_with', '_niends_with',
] as const;
const SPACE = ['_intersects', '_nintersects', '_intersects_bbox', '_nintersects_bbox'] as const;

const FLAGS: ReadonlySet<Operator> = new Set([...NULLS, ...EMPTIES]);
const LISTS: ReadonlySet<Operator> = new Set([...MEMBER, '_between', '_nbetween']);

/** Flags are true or false, some operators take lists, all others take one value of the field's own kind. */
function operators(name: string, value: GraphQLScalarType, names: readonly Operator[]): GraphQLInputObjectType {
  const list = new GraphQLList(value);
  const typeOf = (one: Operator): GraphQLInputType => (FLAGS.has(one) ? GraphQLBoolean : LISTS.has(one) ? list : value);
  return new GraphQLInputObjectType({
    name: `${name}_filter_operators`,
    fields: Object.fromEntries(names.map((one) => [one, { type: typeOf(one) }])),
  });
}

const ORDERED = [...EQUAL, ...ORDER, ...MEMBER, ...NULLS] as const;
const LOOSE = [...EQUAL, ...ORDER, ...MEMBER, ...NULLS, ...EMPTIES, ...TEXT] as const;

export const OPERATORS_OF = {
  string: operators('string', GraphQLString, [...EQUAL, ...TEXT, ...MEMBER, ...NULLS, ...EMPTIES]),
  // Keys are of many types. What does not fit one of them is refused when it runs.
  id: operators('id', GraphQLID, LOOSE),
  boolean: operators('boolean', GraphQLBoolean, [...EQUAL, ...NULLS]),
  // Texts as well, since dynamic values are texts.
  number: operators('number', StringOrFloatScalar, ORDERED),
  bigInt: operators('big_int', BigIntScalar, ORDERED),
  date: operators('date', GraphQLString, [...ORDERED, ...EMPTIES]),
  geometry: operators('geometry', GeoJsonScalar, [...EQUAL, ...SPACE, ...NULLS]),
  hash: operators('hash', GraphQLString, [...NULLS, ...EMPTIES]),
  json: new GraphQLInputObjectType({
    name: 'json_filter_operators',
    fields: {
      _json: { type: JsonScalar, description: 'Conditions by their paths inside: `{ "a.b[0]": { _eq: 1 } }`.' },
      _null: { type: GraphQLBoolean },
      _nnull: { type: GraphQLBoolean },
    },
  }),
  list: operators('list', GraphQLString, NULLS),
  unknown: operators('unknown', GraphQLString, LOOSE),
} as const;

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
