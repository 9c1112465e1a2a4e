import type { Collection, Field } from '../../../../plugins/schema/contract.ts';
import { type Arguments, Inexpressible, isGraphqlName, Variable } from './entries.ts';
import { callOf, KEY_TEXT, listOf, QUERY_STRINGS, stepsOf } from './names.ts';
import type { Sight } from './sight.ts';

export const NO_NAME = 'a name that is no GraphQL name';
export const TYPED = 'a text where GraphQL has a number or a Boolean';
export const INEXACT = 'a number that JSON cannot hold, and GraphQL can';

type Rules = Record<string, unknown>;

const LOGIC = new Set(['_and', '_or']);
const LISTS = new Set(['_in', '_nin', '_between', '_nbetween']);
const FLAGS = new Set(['_null', '_nnull', '_empty', '_nempty']);
const WORDS = ['string', 'text', 'csv', 'binary', 'unknown', 'hash'];

/** The conditions of a node as arguments. `aliases`: GraphQL sorts by what fields are called, not by what an answer calls them. */
export function argumentsOf(sight: Sight, collection: Collection, raw: Rules, aliases: Aliases): Arguments {
  const { filter, sort, limit, offset, page, search } = raw;
  return {
    ...(filter === undefined ? {} : { filter: rootFilter(sight, collection, filter) }),
    ...(sort === undefined ? {} : { sort: listOf(sort).map((one) => unaliased(one, aliases)) }),
    ...numbered({ limit, offset, page }),
    ...(search === undefined ? {} : { search: typeof search === 'number' ? String(search) : search }),
  };
}

export type Aliases = Readonly<Record<string, string>>;

export const unaliased = (entry: string, aliases: Aliases): string => {
  const [sign, name] = entry.startsWith('-') ? ['-', entry.slice(1)] : ['', entry];
  return sign + (Object.hasOwn(aliases, name) ? aliases[name] : name);
};

function numbered(all: Rules): Arguments {
  const given = Object.entries(all).filter(([, value]) => value !== undefined);
  if (given.some(([, value]) => typeof value === 'string' && /^\d*$/.test(value) && Number(value) < 2 ** 31))
    throw new Inexpressible(TYPED);
  return Object.fromEntries(given);
}

function rootFilter(sight: Sight, collection: Collection, raw: unknown): unknown {
  if (typeof raw === 'string') throw new Inexpressible(QUERY_STRINGS);
  return filterOf(sight, collection, raw);
}

/** A filter of REST as the input of the collection's filter. What makes no sense is passed on, to be refused. */
export function filterOf(sight: Sight, collection: Collection, raw: unknown): unknown {
  if (!isObject(raw)) return raw;
  const rules: [string, unknown][] = Object.entries(raw).flatMap(([key, rule]): [string, unknown][] => {
    if (LOGIC.has(key)) return [[key, eachOf(rule, (one) => filterOf(sight, collection, one))]];
    if (key.startsWith('$FOLLOW')) throw new Inexpressible('a relation without a field, followed backwards');
    const field = collection.fields.get(key);
    if (field) return [fieldRule(sight, field, rule)];
    return [unknownRule(sight, collection, key, rule)];
  });
  return merged(rules);
}

/** A function, one collection of a many-to-any, or a name that no field has. */
function unknownRule(sight: Sight, collection: Collection, key: string, rule: unknown): [string, unknown] {
  const [first = '', ...rest] = stepsOf(key);
  if (rest.length > 0) {
    const field = collection.fields.get(first);
    return field ? fieldRule(sight, field, { [rest.join('.')]: rule }) : [first, { [rest.join('.')]: rule }];
  }
  const call = callOf(first);
  if (call) return [`${call.field}_func`, { [call.fn]: operatorsOf(rule, 'integer') }];
  const [name = '', only] = key.split(':');
  const to = only === undefined ? undefined : sight.overview.collections.get(only);
  return only === undefined
    ? [key, operatorsOf(rule, 'string')]
    : [`${name}__${only}`, to ? filterOf(sight, to, rule) : rule];
}

function fieldRule(sight: Sight, field: Field, rule: unknown): [string, unknown] {
  const { name, relation } = field;
  if (!isGraphqlName(name)) throw new Inexpressible(NO_NAME);
  const to = relation && relation.kind !== 'any' ? sight.overview.collections.get(relation.to) : undefined;
  if (to && sight.opens(to.name)) return [name, behind(sight, to, rule, relation?.kind === 'many')];
  // Logic on the operators of one field is logic on the field.
  const [first] = isObject(rule) ? Object.entries(rule) : [];
  if (first && LOGIC.has(first[0]) && isObject(rule) && Object.keys(rule).length === 1)
    return [first[0], eachOf(first[1], (one) => ({ [name]: operatorsOf(one, field.type) }))];
  return [name, operatorsOf(rule, field.type)];
}

/** What stands under a relation: operators there speak of the key of the row it leads to. */
function behind(sight: Sight, to: Collection, rule: unknown, isMany: boolean): unknown {
  const key = to.primary;
  const type = to.fields.get(key ?? '')?.type ?? 'string';
  const ofKey = (operators: unknown): Rules => {
    if (key === null) throw new Inexpressible(KEY_TEXT);
    return { [key]: operatorsOf(operators, type) };
  };
  if (!isObject(rule)) return ofKey(rule);
  const rules = Object.entries(rule).map(([name, one]): [string, unknown] => {
    if (LOGIC.has(name)) return [name, eachOf(one, (inner) => behind(sight, to, inner, isMany))];
    if (name === '_some' || name === '_none') return [name, filterOf(sight, to, one)];
    if (!name.startsWith('_') || to.fields.has(name)) {
      const [found] = Object.entries(filterOf(sight, to, { [name]: one }) as Rules);
      return found as [string, unknown];
    }
    if (isMany && (name === '_null' || name === '_nnull'))
      return [(name === '_null') === (one !== false) ? '_none' : '_some', {}];
    return Object.entries(ofKey({ [name]: one }))[0] as [string, unknown];
  });
  return merged(rules);
}

function operatorsOf(rule: unknown, type: string): unknown {
  if (rule === null) return { _null: true };
  if (!isObject(rule)) return Array.isArray(rule) ? rule : { _eq: operand('_eq', rule, type) };
  return Object.fromEntries(Object.entries(rule).map(([name, value]) => [name, operand(name, value, type)]));
}

function operand(operator: string, value: unknown, type: string): unknown {
  if (operator === '_json') return new Variable('JSON', value);
  if (FLAGS.has(operator)) {
    if (value === '' || value === 'true' || value === 'false') throw new Inexpressible(TYPED);
    return value;
  }
  if (type === 'boolean' && (value === 'true' || value === 'false')) throw new Inexpressible(TYPED);
  if (LISTS.has(operator)) {
    if (isObject(value)) throw new Inexpressible(QUERY_STRINGS);
    if (typeof value === 'string') return value === '' ? [] : value.split(',').map((one) => one.trim());
  }
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new Inexpressible(INEXACT);
  return typeof value === 'number' && WORDS.includes(type) ? String(value) : value;
}

function eachOf(list: unknown, each: (one: unknown) => unknown): unknown {
  if (isObject(list)) throw new Inexpressible(QUERY_STRINGS);
  return Array.isArray(list) ? list.map(each) : list;
}

/** Two rules of one name both count. */
function merged(rules: readonly [string, unknown][]): unknown {
  const names = new Set(rules.map(([name]) => name));
  if (names.size === rules.length) return Object.fromEntries(rules);
  return { _and: rules.map(([name, rule]) => ({ [name]: rule })) };
}

export const isObject = (value: unknown): value is Rules =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Variable);
