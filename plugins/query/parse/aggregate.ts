import { fail } from '#kernel';
import type { Collection, FieldType } from '../../schema/contract.ts';
import { AGGREGATE_FUNCTIONS, type AggregateName, type Aggregation, type FieldReference } from '../contract.ts';
import { parseFieldReference } from './functions.ts';
import { countQueryPart, type QueryParseContext } from './parse-context.ts';
import { buildResponseMemberName, parseFieldPathStep } from './path-steps.ts';
import {
  createInvalidQueryFailure,
  errorPathOfParameter,
  isObject,
  parseJsonParameter,
  parseNameListParameter,
  type QueryErrorPath,
  renderNearestNameSuggestion,
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
  context: QueryParseContext,
  collection: Collection,
  raw: RawAggregate,
  aliases: ReadonlyMap<string, string>,
  path: QueryErrorPath,
): Aggregation | undefined {
  const parts = parseGroupsAndAggregates(context, collection, raw, aliases, path);
  const { groups, functions } = parts;
  if (groups.length === 0 && functions.length === 0) return undefined;
  // In REST groups and functions are members of one object.
  assertUniqueKeys(groups, new Set(functions.map(({ name }) => name)), path);
  return withGroupOrder(parts, raw.sort, path);
}

type AggregateParts = Omit<Aggregation, 'order'>;

/** Parses the groups and the functions of an aggregation; both lists may be empty. */
export function parseGroupsAndAggregates(
  context: QueryParseContext,
  collection: Collection,
  raw: RawAggregate,
  aliases: ReadonlyMap<string, string>,
  path: QueryErrorPath,
): AggregateParts {
  const requested = parseJsonParameter(raw.aggregate, errorPathOfParameter(path, 'aggregate')) ?? {};
  if (!isObject(requested))
    throw createInvalidQueryFailure('must be an object of functions', errorPathOfParameter(path, 'aggregate'));
  const groups = [...new Set(parseNameListParameter(raw.groupBy, errorPathOfParameter(path, 'groupBy')))].map(
    (entry, index) => {
      const at = [...errorPathOfParameter(path, 'groupBy'), index];
      countQueryPart(context, at);
      return parseGroup(context, collection, entry, aliases, at);
    },
  );
  const functions = Object.entries(requested).flatMap(([name, fields]) =>
    parseAggregateFunctions(context, collection, name, fields, [...errorPathOfParameter(path, 'aggregate'), name]),
  );
  assertUniqueKeys(groups, new Set(), path);
  return { groups, functions };
}

export const withGroupOrder = (parts: AggregateParts, sort: unknown, path: QueryErrorPath): Aggregation => ({
  ...parts,
  order: parseGroupOrder(parts, sort, errorPathOfParameter(path, 'sort')),
});

function assertUniqueKeys(groups: Aggregation['groups'], others: ReadonlySet<string>, path: QueryErrorPath): void {
  for (const [index, { key }] of groups.entries()) {
    if (others.has(key) || groups.findIndex((one) => one.key === key) !== index)
      throw createInvalidQueryFailure(`two members of the answer have the name "${key}": give one of them an alias`, [
        ...errorPathOfParameter(path, 'groupBy'),
        index,
      ]);
  }
}

function parseGroup(
  context: QueryParseContext,
  collection: Collection,
  entry: string,
  aliases: ReadonlyMap<string, string>,
  at: QueryErrorPath,
): Aggregation['groups'][number] {
  const text = aliases.get(entry) ?? entry;
  if (!text.includes('(') && text.includes('.'))
    throw createInvalidQueryFailure('groups are fields of the collection itself', at);
  const use = assertNotConcealed(parseFieldReference(context, collection, text, at));
  const { type, column, parts } = use.field;
  if (use.fn?.name === 'json' || (!use.fn && ((!column && !parts) || type === 'json' || type.startsWith('geometry'))))
    throw createInvalidQueryFailure(`cannot group by ${entry.slice(0, 60)}`, at);
  const key = use.fn ? buildResponseMemberName(parseFieldPathStep(text, at), at) : use.field.name;
  return { key: aliases.has(entry) ? entry : key, use };
}

function parseAggregateFunctions(
  context: QueryParseContext,
  collection: Collection,
  requested: string,
  fields: unknown,
  path: QueryErrorPath,
): Aggregation['functions'] {
  const name = AGGREGATE_FUNCTIONS.find((one) => one === requested);
  if (!name)
    throw createInvalidQueryFailure(
      `there is no aggregate "${requested.slice(0, 40)}"${renderNearestNameSuggestion(requested, AGGREGATE_FUNCTIONS)}`,
      path,
    );
  const keys = [...new Set(name === 'countAll' ? ['*'] : parseNameListParameter(fields, path))];
  if (keys.length === 0) throw createInvalidQueryFailure('must name at least one field', path);
  return keys.map((key, index) => {
    const at = [...path, index];
    countQueryPart(context, at);
    if (key === '*') {
      if (!name.startsWith('count')) throw createInvalidQueryFailure(`${name} needs a field`, at);
      return { name, key, use: null };
    }
    const use = assertNotConcealed(parseFieldReference(context, collection, key, at));
    assertFunctionFits(name, use, at);
    return { name, key, use };
  });
}

function assertFunctionFits(name: AggregateName, { field, fn }: FieldReference, at: QueryErrorPath): void {
  if (fn) throw createInvalidQueryFailure('takes fields, not functions of them', at);
  const fits = name.startsWith('count')
    ? field.column !== null || field.parts !== undefined
    : name === 'min' || name === 'max'
      ? COMPARABLE.includes(field.type) && !field.column?.array
      : NUMERIC.includes(field.type) && !field.column?.array;
  if (!fits) throw createInvalidQueryFailure(`${name} does not fit a field of type ${field.type}`, at);
}

/** Groups and counts of concealed values would reveal which rows have equal ones. */
function assertNotConcealed(use: FieldReference): FieldReference {
  if (use.field.concealed) throw fail('FORBIDDEN', `${use.field.name} is concealed and cannot be aggregated`);
  return use;
}

/** Parses the order of groups: by groups and aggregates under their names in the answer, then by the remaining groups. */
function parseGroupOrder(
  { groups, functions }: AggregateParts,
  sort: unknown,
  path: QueryErrorPath,
): Aggregation['order'] {
  const requested = parseNameListParameter(sort, path).map((entry, index) => {
    const { text, descending } = parseDirection(entry);
    const group = groups.findIndex(({ key, use }) => key === text || (!use.fn && use.field.name === text));
    if (group >= 0) return { of: 'groups', at: group, descending } as const;
    const called = groups.findIndex(({ use }) => use.fn && text === `${use.fn.name}(${use.field.name})`);
    if (called >= 0) return { of: 'groups', at: called, descending } as const;
    const dot = text.indexOf('.');
    const [name, key] = dot < 0 ? [text, undefined] : [text.slice(0, dot), text.slice(dot + 1)];
    const found = functions.findIndex((one) => one.name === name && (key === undefined || one.key === key));
    if (found < 0)
      throw createInvalidQueryFailure('groups are sorted by what they are grouped by or by an aggregate', [
        ...path,
        index,
      ]);
    return { of: 'functions', at: found, descending } as const;
  });
  const named = new Set(requested.filter(({ of }) => of === 'groups').map(({ at }) => at));
  const rest = groups.flatMap((_, at) => (named.has(at) ? [] : [{ of: 'groups', at, descending: false } as const]));
  return [...requested, ...rest];
}
