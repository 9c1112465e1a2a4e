import type { Collection } from '../../../../plugins/schema/contract.ts';
import { isObject, resolveAlias, toArguments } from './conditions.ts';
import { type Arguments, type DocumentEntry, Inexpressible } from './entries.ts';
import { INEXPRESSIBLE_QUERY_STRING, parseCall, restFunctionKey, toList } from './query-paths.ts';
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
): { readonly args: Arguments; readonly of: readonly DocumentEntry[] } {
  if (typeof raw.aggregate === 'string' || typeof raw.aggregate === 'number')
    throw new Inexpressible(INEXPRESSIBLE_QUERY_STRING);
  const aliases = parseAliases(raw.alias);
  const groupBy = [...new Set(toList(raw.groupBy))];
  const functions = Object.entries((raw.aggregate ?? {}) as Record<string, unknown>);
  const groups = groupBy.map((name): DocumentEntry => {
    const meant = resolveAlias(name, aliases);
    if (meant !== name && functions.some(([fn]) => fn === name)) throw new Inexpressible(INEXPRESSIBLE_NAME_CLASH);
    const call = collection.fields.has(meant) ? undefined : parseCall(meant);
    const field = call ? undefined : collection.fields.get(meant);
    const key = call ? restFunctionKey(call) : meant;
    const as = field && ['decimal', 'float'].includes(field.type) ? valueConversionOf(collection, field) : {};
    return { kind: 'column', key, field: key, from: [name === meant ? key : name], ...as };
  });
  if (
    new Set(groups.map(({ key }) => key)).size < new Set(groups.flatMap((one) => ('from' in one ? one.from : []))).size
  )
    throw new Inexpressible(INEXPRESSIBLE_ALIASED_GROUPS);
  return {
    args: {
      ...(groupBy.length > 0 ? { groupBy: groupBy.map((name) => resolveAlias(name, aliases)) } : {}),
      ...toArguments(sight, collection, { ...raw, sort: undefined }, aliases),
      ...(raw.sort === undefined
        ? {}
        : { sort: toList(raw.sort).map((one) => toSort(resolveAlias(one, aliases), functions)) }),
    },
    of: [
      ...(groups.length > 0 ? [{ kind: 'groups', key: 'group', field: 'group', of: groups } as const] : []),
      ...functions.flatMap(([fn, fields]) => functionEntries(collection, fn, fields)),
    ],
  };
}

/** Renames sort entries: the `count` of rows in REST is `countAll` in GraphQL. */
const toSort = (sort: string, functions: readonly (readonly [string, unknown])[]): string =>
  /^-?count$/.test(sort) && functions.some(([fn, fields]) => fn === 'count' && toList(fields)[0] === '*')
    ? `${sort}All`
    : sort;

function functionEntries(collection: Collection, fn: string, raw: unknown): readonly DocumentEntry[] {
  const names = fn === 'countAll' ? ['*'] : [...new Set(toList(isObject(raw) ? Object.values(raw) : raw))];
  const isRows = names.includes('*');
  if (isRows && fn === 'countDistinct') throw new Inexpressible(INEXPRESSIBLE_DISTINCT_ROWS);
  const others = names.filter((name) => name !== '*');
  const rows: DocumentEntry = {
    kind: 'column',
    key: 'countAll',
    field: 'countAll',
    from: others.length > 0 ? [fn, '*'] : [fn],
  };
  const columns = others.map((name): DocumentEntry => {
    const field = collection.fields.get(name);
    if (field && (fn === 'min' || fn === 'max') && !isNumber(field.type))
      throw new Inexpressible(INEXPRESSIBLE_MIN_MAX);
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
