import { type GraphQLFieldConfig, GraphQLInt, GraphQLNonNull, GraphQLObjectType, GraphQLString } from 'graphql';
import { DATE_PARTS } from '../../query/contract.ts';
import type { Field, FieldType } from '../../schema/contract.ts';
import { bindingExtensions } from './binding.ts';
import { JsonScalar } from './scalars.ts';

/** Which functions a field has; fields of one group have one type of companion. */
export type FunctionGroup = 'date' | 'time' | 'datetime' | 'count' | 'json';

const DAY_PARTS = ['year', 'month', 'week', 'day', 'weekday'] as const;
const CLOCK_PARTS = ['hour', 'minute', 'second'] as const;

export const FUNCTIONS: Readonly<Record<Exclude<FunctionGroup, 'json'>, readonly string[]>> = {
  date: DAY_PARTS,
  time: CLOCK_PARTS,
  datetime: DATE_PARTS,
  count: ['count'],
};

const GROUP_BY_TYPE: Partial<Readonly<Record<FieldType, FunctionGroup>>> = {
  date: 'date',
  time: 'time',
  dateTime: 'datetime',
  timestamp: 'datetime',
  json: 'json',
};

/** Undefined where there are none: what is concealed would be told by its functions. */
export function functionGroupOf(field: Field): FunctionGroup | undefined {
  if (field.concealed) return undefined;
  if (field.relation?.kind === 'many') return 'count';
  const group = field.column ? GROUP_BY_TYPE[field.type] : undefined;
  // A list has elements and nothing to look into by a path.
  return field.column?.array && group === 'json' ? 'count' : field.column?.array ? undefined : group;
}

const integerFunction = (fn: string): GraphQLFieldConfig<unknown, unknown> => ({
  type: GraphQLInt,
  extensions: bindingExtensions({ kind: 'function', fn }),
});

const createFunctionsType = (name: string, functions: readonly string[]) =>
  new GraphQLObjectType({ name, fields: Object.fromEntries(functions.map((fn) => [fn, integerFunction(fn)])) });

export const FUNCTION_TYPES = {
  date: createFunctionsType('date_functions', FUNCTIONS.date),
  time: createFunctionsType('time_functions', FUNCTIONS.time),
  datetime: createFunctionsType('datetime_functions', FUNCTIONS.datetime),
  count: createFunctionsType('count_functions', FUNCTIONS.count),
} as const;

/** JSON fields have a type each (conventions, `<collection>_<field>_func`), so that a later one may know what is inside. */
export const createJsonFunctionsType = (name: string): GraphQLObjectType =>
  new GraphQLObjectType({
    name,
    fields: {
      count: integerFunction('count'),
      json: {
        type: JsonScalar,
        args: { path: { type: new GraphQLNonNull(GraphQLString), description: 'Such as `a.b[0]`.' } },
        extensions: bindingExtensions({ kind: 'function', fn: 'json' }),
      },
    },
  });
