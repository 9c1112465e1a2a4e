import { type GraphQLFieldConfig, GraphQLInt, GraphQLNonNull, GraphQLObjectType, GraphQLString } from 'graphql';
import { DATE_PARTS } from '../../query/contract.ts';
import type { Field, FieldType } from '../../schema/contract.ts';
import { createFieldBindingExtensions } from './field-bindings.ts';
import { JsonScalar } from './scalars.ts';

/** Groups of functions. Fields of one group share the type of their companion field `<field>_func`. */
export type FieldFunctionGroup = 'date' | 'time' | 'datetime' | 'count' | 'json';

const DAY_PARTS = ['year', 'month', 'week', 'day', 'weekday'] as const;
const CLOCK_PARTS = ['hour', 'minute', 'second'] as const;

export const FIELD_FUNCTION_NAMES_BY_GROUP: Readonly<Record<Exclude<FieldFunctionGroup, 'json'>, readonly string[]>> = {
  date: DAY_PARTS,
  time: CLOCK_PARTS,
  datetime: DATE_PARTS,
  count: ['count'],
};

const GROUP_BY_TYPE: Partial<Readonly<Record<FieldType, FieldFunctionGroup>>> = {
  date: 'date',
  time: 'time',
  dateTime: 'datetime',
  timestamp: 'datetime',
  json: 'json',
};

/**
 * The group of functions of a field; undefined for a field without functions. Functions of a concealed field would
 * reveal it.
 */
export function functionGroupOf(field: Field): FieldFunctionGroup | undefined {
  if (field.concealed) return undefined;
  if (field.relation?.kind === 'many') return 'count';
  const group = field.column ? GROUP_BY_TYPE[field.type] : undefined;
  // A PostgreSQL array of JSON values has a count, but no path inside.
  return field.column?.array && group === 'json' ? 'count' : field.column?.array ? undefined : group;
}

const integerFunction = (fn: string): GraphQLFieldConfig<unknown, unknown> => ({
  type: GraphQLInt,
  extensions: createFieldBindingExtensions({ kind: 'function', fn }),
});

const createFunctionsType = (name: string, functions: readonly string[]) =>
  new GraphQLObjectType({ name, fields: Object.fromEntries(functions.map((fn) => [fn, integerFunction(fn)])) });

export const FUNCTION_TYPES = {
  date: createFunctionsType('date_functions', FIELD_FUNCTION_NAMES_BY_GROUP.date),
  time: createFunctionsType('time_functions', FIELD_FUNCTION_NAMES_BY_GROUP.time),
  datetime: createFunctionsType('datetime_functions', FIELD_FUNCTION_NAMES_BY_GROUP.datetime),
  count: createFunctionsType('count_functions', FIELD_FUNCTION_NAMES_BY_GROUP.count),
} as const;

/**
 * Each JSON field has a type of its own (conventions, `<collection>_<field>_func`), which may describe its content one
 * day.
 */
export const createJsonFunctionsType = (name: string): GraphQLObjectType =>
  new GraphQLObjectType({
    name,
    fields: {
      count: integerFunction('count'),
      json: {
        type: JsonScalar,
        args: { path: { type: new GraphQLNonNull(GraphQLString), description: 'Such as `a.b[0]`.' } },
        extensions: createFieldBindingExtensions({ kind: 'function', fn: 'json' }),
      },
    },
  });
