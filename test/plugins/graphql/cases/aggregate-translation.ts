import type { Collection } from '../../../../plugins/schema/contract.ts';
import { type GraphqlArguments, type GraphqlSelectionEntry, InexpressibleInGraphqlError } from './document-entries.ts';
import { isPlainRestObject, resolveAlias, toGraphqlArguments } from './list-arguments.ts';
import {
  INEXPRESSIBLE_QUERY_STRING,
  parseListParameter,
  parseQueryFunctionCall,
  restFunctionKey,
} from './query-paths.ts';
import { NUMERIC_FIELD_TYPES, type ReadableSchema, valueConversionOf } from './readable-schema.ts';
import { INEXPRESSIBLE_NAME_CLASH, parseAliases } from './requested-fields.ts';

export const INEXPRESSIBLE_MIN_MAX = 'min and max of what is no number';
export const INEXPRESSIBLE_ALIASED_GROUPS = 'groups that only an alias tells apart';
export const INEXPRESSIBLE_DISTINCT_ROWS = 'countDistinct of rows';

/** Converts `aggregate` and `groupBy` of a REST query into arguments and selection of `<collection>_aggregated`. */
export function toAggregatedSelection(
  sight: ReadableSchema,
  collection: Collection,
  raw: Record<string, unknown>,
): { readonly args: GraphqlArguments; readonly of: readonly GraphqlSelectionEntry[] } {
  if (typeof raw.aggregate === 'string' || typeof raw.aggregate === 'number')
    throw new InexpressibleInGraphqlError(INEXPRESSIBLE_QUERY_STRING);
  const aliases = parseAliases(raw.alias);
  const groupBy = [...new Set(parseListParameter(raw.groupBy))];
  const functions = Object.entries((raw.aggregate ?? {}) as Record<string, unknown>);
  const groups = groupBy.map((name): GraphqlSelectionEntry => {
    const meant = resolveAlias(name, aliases);
    if (meant !== name && functions.some(([fn]) => fn === name))
      throw new InexpressibleInGraphqlError(INEXPRESSIBLE_NAME_CLASH);
    const call = collection.fields.has(meant) ? undefined : parseQueryFunctionCall(meant);
    const field = call ? undefined : collection.fields.get(meant);
    const key = call ? restFunctionKey(call) : meant;
    const as = field && ['decimal', 'float'].includes(field.type) ? valueConversionOf(collection, field) : {};
    return { kind: 'column', key, field: key, from: [name === meant ? key : name], ...as };
  });
  if (
    new Set(groups.map(({ key }) => key)).size < new Set(groups.flatMap((one) => ('from' in one ? one.from : []))).size
  )
    throw new InexpressibleInGraphqlError(INEXPRESSIBLE_ALIASED_GROUPS);
  return {
    args: {
      ...(groupBy.length > 0 ? { groupBy: groupBy.map((name) => resolveAlias(name, aliases)) } : {}),
      ...toGraphqlArguments(sight, collection, { ...raw, sort: undefined }, aliases),
      ...(raw.sort === undefined
        ? {}
        : { sort: parseListParameter(raw.sort).map((one) => toSort(resolveAlias(one, aliases), functions)) }),
    },
    of: [
      ...(groups.length > 0 ? [{ kind: 'groups', key: 'group', field: 'group', of: groups } as const] : []),
      ...functions.flatMap(([fn, fields]) => functionEntries(collection, fn, fields)),
    ],
  };
}

/** Renames sort entries: the `count` of rows in REST is `countAll` in GraphQL. */
const toSort = (sort: string, functions: readonly (readonly [string, unknown])[]): string =>
  /^-?count$/.test(sort) && functions.some(([fn, fields]) => fn === 'count' && parseListParameter(fields)[0] === '*')
    ? `${sort}All`
    : sort;

function functionEntries(collection: Collection, fn: string, raw: unknown): readonly GraphqlSelectionEntry[] {
  const names =
    fn === 'countAll' ? ['*'] : [...new Set(parseListParameter(isPlainRestObject(raw) ? Object.values(raw) : raw))];
  const isRows = names.includes('*');
  if (isRows && fn === 'countDistinct') throw new InexpressibleInGraphqlError(INEXPRESSIBLE_DISTINCT_ROWS);
  const others = names.filter((name) => name !== '*');
  const rows: GraphqlSelectionEntry = {
    kind: 'column',
    key: 'countAll',
    field: 'countAll',
    from: others.length > 0 ? [fn, '*'] : [fn],
  };
  const columns = others.map((name): GraphqlSelectionEntry => {
    const field = collection.fields.get(name);
    if (field && (fn === 'min' || fn === 'max') && !isNumber(field.type))
      throw new InexpressibleInGraphqlError(INEXPRESSIBLE_MIN_MAX);
    const as = /^count/.test(fn) ? {} : ({ as: 'number' } as const);
    return { kind: 'column', key: name, field: name, from: [name], ...as };
  });
  return [
    ...(isRows ? [rows] : []),
    ...(columns.length > 0 || !isRows ? [{ kind: 'rows', key: fn, field: fn, from: [fn], of: columns } as const] : []),
  ];
}

/** Whether min and max are translated. GraphQL has them for numbers only; REST refuses them for JSON and Booleans too. */
const isNumber = (type: string): boolean => NUMERIC_FIELD_TYPES.includes(type) || ['json', 'boolean'].includes(type);
