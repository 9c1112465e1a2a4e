import { fail } from '#kernel';
import type { Collection, FieldType } from '../../schema/contract.ts';
import { AGGREGATES, type AggregateName, type Aggregation, type FieldUse } from '../contract.ts';
import { parseFieldUse } from './functions.ts';
import { countQueryPart, type ParseContext } from './parse-context.ts';
import { parseStep, responseKey } from './path-steps.ts';
import {
  invalidQuery,
  isObject,
  parameterPath,
  parseJson,
  parseList,
  type QueryPath,
  suggestionFor,
} from './raw-values.ts';
import { parseDirection } from './sort.ts';

interface RawAggregate {
  readonly aggregate?: unknown;
  readonly groupBy?: unknown;
  readonly sort?: unknown;
}

const NUMERIC: readonly FieldType[] = ['integer', 'bigInteger', 'decimal', 'float'];
const COMPARABLE: readonly FieldType[] = [
  ...NUMERIC,
  ...(['date', 'dateTime', 'timestamp', 'time', 'string', 'text', 'uuid'] as const),
];

/** Parses `aggregate` and `groupBy` (conventions, "Aggregation"); undefined when the query has neither. */
export function parseAggregate(
  context: ParseContext,
  collection: Collection,
  raw: RawAggregate,
  aliases: ReadonlyMap<string, string>,
  path: QueryPath,
): Aggregation | undefined {
  const parts = parseAggregateParts(context, collection, raw, aliases, path);
  const { groups, functions } = parts;
  if (groups.length === 0 && functions.length === 0) return undefined;
  // In REST groups and functions are members of one object.
  assertUniqueKeys(groups, new Set(functions.map(({ name }) => name)), path);
  return withGroupOrder(parts, raw.sort, path);
}

type AggregateParts = Omit<Aggregation, 'order'>;

/** Parses the groups and the functions of an aggregation; both lists may be empty. */
export function parseAggregateParts(
  context: ParseContext,
  collection: Collection,
  raw: RawAggregate,
  aliases: ReadonlyMap<string, string>,
  path: QueryPath,
): AggregateParts {
  const requested = parseJson(raw.aggregate, parameterPath(path, 'aggregate')) ?? {};
  if (!isObject(requested)) throw invalidQuery('must be an object of functions', parameterPath(path, 'aggregate'));
  const groups = [...new Set(parseList(raw.groupBy, parameterPath(path, 'groupBy')))].map((entry, index) => {
    const at = [...parameterPath(path, 'groupBy'), index];
    countQueryPart(context, at);
    return parseGroup(context, collection, entry, aliases, at);
  });
  const functions = Object.entries(requested).flatMap(([name, fields]) =>
    parseAggregateFunctions(context, collection, name, fields, [...parameterPath(path, 'aggregate'), name]),
  );
  assertUniqueKeys(groups, new Set(), path);
  return { groups, functions };
}

export const withGroupOrder = (parts: AggregateParts, sort: unknown, path: QueryPath): Aggregation => ({
  ...parts,
  order: parseGroupOrder(parts, sort, parameterPath(path, 'sort')),
});

function assertUniqueKeys(groups: Aggregation['groups'], others: ReadonlySet<string>, path: QueryPath): void {
  for (const [index, { key }] of groups.entries()) {
    if (others.has(key) || groups.findIndex((one) => one.key === key) !== index)
      throw invalidQuery(`two members of the answer have the name "${key}": give one of them an alias`, [
        ...parameterPath(path, 'groupBy'),
        index,
      ]);
  }
}

function parseGroup(
  context: ParseContext,
  collection: Collection,
  entry: string,
  aliases: ReadonlyMap<string, string>,
  at: QueryPath,
): Aggregation['groups'][number] {
  const text = aliases.get(entry) ?? entry;
  if (!text.includes('(') && text.includes('.')) throw invalidQuery('groups are fields of the collection itself', at);
  const use = assertNotConcealed(parseFieldUse(context, collection, text, at));
  const { type, column, parts } = use.field;
  if (use.fn?.name === 'json' || (!use.fn && ((!column && !parts) || type === 'json' || type.startsWith('geometry'))))
    throw invalidQuery(`cannot group by ${entry.slice(0, 60)}`, at);
  const key = use.fn ? responseKey(parseStep(text, at), at) : use.field.name;
  return { key: aliases.has(entry) ? entry : key, use };
}

function parseAggregateFunctions(
  context: ParseContext,
  collection: Collection,
  requested: string,
  fields: unknown,
  path: QueryPath,
): Aggregation['functions'] {
  const name = AGGREGATES.find((one) => one === requested);
  if (!name)
    throw invalidQuery(
      `there is no aggregate "${requested.slice(0, 40)}"${suggestionFor(requested, AGGREGATES)}`,
      path,
    );
  const keys = [...new Set(name === 'countAll' ? ['*'] : parseList(fields, path))];
  if (keys.length === 0) throw invalidQuery('must name at least one field', path);
  return keys.map((key, index) => {
    const at = [...path, index];
    countQueryPart(context, at);
    if (key === '*') {
      if (!name.startsWith('count')) throw invalidQuery(`${name} needs a field`, at);
      return { name, key, use: null };
    }
    const use = assertNotConcealed(parseFieldUse(context, collection, key, at));
    assertFunctionFits(name, use, at);
    return { name, key, use };
  });
}

function assertFunctionFits(name: AggregateName, { field, fn }: FieldUse, at: QueryPath): void {
  if (fn) throw invalidQuery('takes fields, not functions of them', at);
  const fits = name.startsWith('count')
    ? field.column !== null || field.parts !== undefined
    : name === 'min' || name === 'max'
      ? COMPARABLE.includes(field.type) && !field.column?.array
      : NUMERIC.includes(field.type) && !field.column?.array;
  if (!fits) throw invalidQuery(`${name} does not fit a field of type ${field.type}`, at);
}

/** Groups and counts of concealed values would reveal which rows have equal ones. */
function assertNotConcealed(use: FieldUse): FieldUse {
  if (use.field.concealed) throw fail('FORBIDDEN', `${use.field.name} is concealed and cannot be aggregated`);
  return use;
}

/** Parses the order of groups: by groups and aggregates under their names in the answer, then by the remaining groups. */
function parseGroupOrder({ groups, functions }: AggregateParts, sort: unknown, path: QueryPath): Aggregation['order'] {
  const requested = parseList(sort, path).map((entry, index) => {
    const { text, descending } = parseDirection(entry);
    const group = groups.findIndex(({ key, use }) => key === text || (!use.fn && use.field.name === text));
    if (group >= 0) return { of: 'groups', at: group, descending } as const;
    const called = groups.findIndex(({ use }) => use.fn && text === `${use.fn.name}(${use.field.name})`);
    if (called >= 0) return { of: 'groups', at: called, descending } as const;
    const dot = text.indexOf('.');
    const [name, key] = dot < 0 ? [text, undefined] : [text.slice(0, dot), text.slice(dot + 1)];
    const found = functions.findIndex((one) => one.name === name && (key === undefined || one.key === key));
    if (found < 0)
      throw invalidQuery('groups are sorted by what they are grouped by or by an aggregate', [...path, index]);
    return { of: 'functions', at: found, descending } as const;
  });
  const named = new Set(requested.filter(({ of }) => of === 'groups').map(({ at }) => at));
  const rest = groups.flatMap((_, at) => (named.has(at) ? [] : [{ of: 'groups', at, descending: false } as const]));
  return [...requested, ...rest];
}
