import type { Collection, Field } from '../../../../plugins/schema/contract.ts';
import {
  type GraphqlArguments,
  GraphqlVariableValue,
  InexpressibleInGraphqlError,
  isGraphqlName,
} from './document-entries.ts';
import {
  INEXPRESSIBLE_KEY_TEXT,
  INEXPRESSIBLE_QUERY_STRING,
  parseListParameter,
  parseQueryFunctionCall,
  splitQueryPath,
} from './query-paths.ts';
import type { ReadableSchema } from './readable-schema.ts';

export const INEXPRESSIBLE_NAME = 'a name that is no GraphQL name';
export const INEXPRESSIBLE_TYPED_TEXT = 'a text where GraphQL has a number or a Boolean';
export const INEXPRESSIBLE_NUMBER = 'a number that JSON cannot hold, and GraphQL can';

type Rules = Record<string, unknown>;

const LOGIC = new Set(['_and', '_or']);
const LISTS = new Set(['_in', '_nin', '_between', '_nbetween']);
const FLAGS = new Set(['_null', '_nnull', '_empty', '_nempty']);
const TEXT_TYPES = ['string', 'text', 'csv', 'binary', 'unknown', 'hash'];

/**
 * Converts filter, sort, page and search of a REST query into GraphQL arguments. `aliases` are resolved, since GraphQL
 * sorts by field names, not by response keys.
 */
export function toGraphqlArguments(
  sight: ReadableSchema,
  collection: Collection,
  raw: Rules,
  aliases: RestFieldAliases,
): GraphqlArguments {
  const { filter, sort, limit, offset, page, search } = raw;
  return {
    ...(filter === undefined ? {} : { filter: toRootFilter(sight, collection, filter) }),
    ...(sort === undefined ? {} : { sort: parseListParameter(sort).map((one) => resolveAlias(one, aliases)) }),
    ...pageArguments({ limit, offset, page }),
    ...(search === undefined ? {} : { search: typeof search === 'number' ? String(search) : search }),
  };
}

export type RestFieldAliases = Readonly<Record<string, string>>;

export const resolveAlias = (entry: string, aliases: RestFieldAliases): string => {
  const [sign, name] = entry.startsWith('-') ? ['-', entry.slice(1)] : ['', entry];
  return sign + (Object.hasOwn(aliases, name) ? aliases[name] : name);
};

function pageArguments(all: Rules): GraphqlArguments {
  const present = Object.entries(all).filter(([, value]) => value !== undefined);
  if (present.some(([, value]) => typeof value === 'string' && /^\d*$/.test(value) && Number(value) < 2 ** 31))
    throw new InexpressibleInGraphqlError(INEXPRESSIBLE_TYPED_TEXT);
  return Object.fromEntries(present);
}

function toRootFilter(sight: ReadableSchema, collection: Collection, raw: unknown): unknown {
  if (typeof raw === 'string') throw new InexpressibleInGraphqlError(INEXPRESSIBLE_QUERY_STRING);
  return toGraphqlFilter(sight, collection, raw);
}

/** Converts a filter of REST into a filter input. Invalid parts are passed on, so that GraphQL refuses them. */
export function toGraphqlFilter(sight: ReadableSchema, collection: Collection, raw: unknown): unknown {
  if (!isPlainRestObject(raw)) return raw;
  const rules: [string, unknown][] = Object.entries(raw).flatMap(([key, rule]): [string, unknown][] => {
    if (LOGIC.has(key)) return [[key, mapList(rule, (one) => toGraphqlFilter(sight, collection, one))]];
    if (key.startsWith('$FOLLOW'))
      throw new InexpressibleInGraphqlError('a relation without a field, followed backwards');
    const field = collection.fields.get(key);
    if (field) return [fieldRule(sight, field, rule)];
    return [unknownRule(sight, collection, key, rule)];
  });
  return mergeRules(rules);
}

/** Converts a rule whose key is no field: a function, one collection of a many-to-any, or an unknown name. */
function unknownRule(sight: ReadableSchema, collection: Collection, key: string, rule: unknown): [string, unknown] {
  const [first = '', ...rest] = splitQueryPath(key);
  if (rest.length > 0) {
    const field = collection.fields.get(first);
    return field ? fieldRule(sight, field, { [rest.join('.')]: rule }) : [first, { [rest.join('.')]: rule }];
  }
  const call = parseQueryFunctionCall(first);
  if (call) return [`${call.field}_func`, { [call.fn]: toOperators(rule, 'integer') }];
  const [name = '', only] = key.split(':');
  const to = only === undefined ? undefined : sight.snapshot.collections.get(only);
  return only === undefined
    ? [key, toOperators(rule, 'string')]
    : [`${name}__${only}`, to ? toGraphqlFilter(sight, to, rule) : rule];
}

function fieldRule(sight: ReadableSchema, field: Field, rule: unknown): [string, unknown] {
  const { name, relation } = field;
  if (!isGraphqlName(name)) throw new InexpressibleInGraphqlError(INEXPRESSIBLE_NAME);
  const to = relation && relation.kind !== 'any' ? sight.snapshot.collections.get(relation.to) : undefined;
  if (to && sight.isCollectionReadable(to.name)) return [name, relatedRule(sight, to, rule, relation?.kind === 'many')];
  // `_and` and `_or` on operators of a field become `_and` and `_or` on the field.
  const [first] = isPlainRestObject(rule) ? Object.entries(rule) : [];
  if (first && LOGIC.has(first[0]) && isPlainRestObject(rule) && Object.keys(rule).length === 1)
    return [first[0], mapList(first[1], (one) => ({ [name]: toOperators(one, field.type) }))];
  return [name, toOperators(rule, field.type)];
}

/** Converts a rule on a relation. Operators in it apply to the key of the related row. */
function relatedRule(sight: ReadableSchema, to: Collection, rule: unknown, isMany: boolean): unknown {
  const key = to.primary;
  const type = to.fields.get(key ?? '')?.type ?? 'string';
  const ofKey = (operators: unknown): Rules => {
    if (key === null) throw new InexpressibleInGraphqlError(INEXPRESSIBLE_KEY_TEXT);
    return { [key]: toOperators(operators, type) };
  };
  if (!isPlainRestObject(rule)) return ofKey(rule);
  const rules = Object.entries(rule).map(([name, one]): [string, unknown] => {
    if (LOGIC.has(name)) return [name, mapList(one, (inner) => relatedRule(sight, to, inner, isMany))];
    if (name === '_some' || name === '_none') return [name, toGraphqlFilter(sight, to, one)];
    if (!name.startsWith('_') || to.fields.has(name)) {
      const [found] = Object.entries(toGraphqlFilter(sight, to, { [name]: one }) as Rules);
      return found as [string, unknown];
    }
    if (isMany && (name === '_null' || name === '_nnull'))
      return [(name === '_null') === (one !== false) ? '_none' : '_some', {}];
    return Object.entries(ofKey({ [name]: one }))[0] as [string, unknown];
  });
  return mergeRules(rules);
}

function toOperators(rule: unknown, type: string): unknown {
  if (rule === null) return { _null: true };
  if (!isPlainRestObject(rule)) return Array.isArray(rule) ? rule : { _eq: toOperand('_eq', rule, type) };
  return Object.fromEntries(Object.entries(rule).map(([name, value]) => [name, toOperand(name, value, type)]));
}

function toOperand(operator: string, value: unknown, type: string): unknown {
  if (operator === '_json') return new GraphqlVariableValue('JSON', value);
  if (FLAGS.has(operator)) {
    if (value === '' || value === 'true' || value === 'false')
      throw new InexpressibleInGraphqlError(INEXPRESSIBLE_TYPED_TEXT);
    return value;
  }
  if (type === 'boolean' && (value === 'true' || value === 'false'))
    throw new InexpressibleInGraphqlError(INEXPRESSIBLE_TYPED_TEXT);
  if (LISTS.has(operator)) {
    if (isPlainRestObject(value)) throw new InexpressibleInGraphqlError(INEXPRESSIBLE_QUERY_STRING);
    if (typeof value === 'string') return value === '' ? [] : value.split(',').map((one) => one.trim());
  }
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new InexpressibleInGraphqlError(INEXPRESSIBLE_NUMBER);
  return typeof value === 'number' && TEXT_TYPES.includes(type) ? String(value) : value;
}

function mapList(list: unknown, each: (one: unknown) => unknown): unknown {
  if (isPlainRestObject(list)) throw new InexpressibleInGraphqlError(INEXPRESSIBLE_QUERY_STRING);
  return Array.isArray(list) ? list.map(each) : list;
}

/** Joins converted rules into one filter; rules with the same name become a list under `_and`. */
function mergeRules(rules: readonly [string, unknown][]): unknown {
  const names = new Set(rules.map(([name]) => name));
  if (names.size === rules.length) return Object.fromEntries(rules);
  return { _and: rules.map(([name, rule]) => ({ [name]: rule })) };
}

export const isPlainRestObject = (value: unknown): value is Rules =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof GraphqlVariableValue);
