import type { Collection } from '../../../../plugins/schema/contract.ts';
import { argumentsOf, isObject, unaliased } from './conditions.ts';
import { type Arguments, type Entry, Inexpressible } from './entries.ts';
import { calledInRest, callOf, listOf, QUERY_STRINGS } from './names.ts';
import { formOf, NUMBERS, type Sight } from './sight.ts';
import { aliasesOf, CLASH } from './wanted.ts';

export const NO_NUMBER = 'min and max of what is no number';
export const TOLD_APART = 'groups that only an alias tells apart';
export const DISTINCT_ROWS = 'countDistinct of rows';

/** What `aggregate` and `groupBy` ask for, as fields of `<c>_aggregated` and its arguments. */
export function groupsOf(
  sight: Sight,
  collection: Collection,
  raw: Record<string, unknown>,
): { readonly args: Arguments; readonly of: readonly Entry[] } {
  if (typeof raw.aggregate === 'string' || typeof raw.aggregate === 'number') throw new Inexpressible(QUERY_STRINGS);
  const aliases = aliasesOf(raw.alias);
  const groupBy = [...new Set(listOf(raw.groupBy))];
  const functions = Object.entries((raw.aggregate ?? {}) as Record<string, unknown>);
  const groups = groupBy.map((name): Entry => {
    const meant = unaliased(name, aliases);
    if (meant !== name && functions.some(([fn]) => fn === name)) throw new Inexpressible(CLASH);
    const call = collection.fields.has(meant) ? undefined : callOf(meant);
    const field = call ? undefined : collection.fields.get(meant);
    const key = call ? calledInRest(call) : meant;
    const as = field && ['decimal', 'float'].includes(field.type) ? formOf(collection, field) : {};
    return { kind: 'column', key, field: key, from: [name === meant ? key : name], ...as };
  });
  if (
    new Set(groups.map(({ key }) => key)).size < new Set(groups.flatMap((one) => ('from' in one ? one.from : []))).size
  )
    throw new Inexpressible(TOLD_APART);
  return {
    args: {
      ...(groupBy.length > 0 ? { groupBy: groupBy.map((name) => unaliased(name, aliases)) } : {}),
      ...argumentsOf(sight, collection, { ...raw, sort: undefined }, aliases),
      ...(raw.sort === undefined
        ? {}
        : { sort: listOf(raw.sort).map((one) => sortOf(unaliased(one, aliases), functions)) }),
    },
    of: [
      ...(groups.length > 0 ? [{ kind: 'groups', key: 'group', field: 'group', of: groups } as const] : []),
      ...functions.flatMap(([fn, fields]) => functionEntries(collection, fn, fields)),
    ],
  };
}

/** What REST calls `count` where rows are counted is `countAll`. */
const sortOf = (sort: string, functions: readonly (readonly [string, unknown])[]): string =>
  /^-?count$/.test(sort) && functions.some(([fn, fields]) => fn === 'count' && listOf(fields)[0] === '*')
    ? `${sort}All`
    : sort;

function functionEntries(collection: Collection, fn: string, raw: unknown): readonly Entry[] {
  const names = fn === 'countAll' ? ['*'] : [...new Set(listOf(isObject(raw) ? Object.values(raw) : raw))];
  const isRows = names.includes('*');
  if (isRows && fn === 'countDistinct') throw new Inexpressible(DISTINCT_ROWS);
  const others = names.filter((name) => name !== '*');
  const rows: Entry = {
    kind: 'column',
    key: 'countAll',
    field: 'countAll',
    from: others.length > 0 ? [fn, '*'] : [fn],
  };
  const columns = others.map((name): Entry => {
    const field = collection.fields.get(name);
    if (field && (fn === 'min' || fn === 'max') && !isNumber(field.type)) throw new Inexpressible(NO_NUMBER);
    const as = /^count/.test(fn) ? {} : ({ as: 'number' } as const);
    return { kind: 'column', key: name, field: name, from: [name], ...as };
  });
  return [
    ...(isRows ? [rows] : []),
    ...(columns.length > 0 || !isRows ? [{ kind: 'rows', key: fn, field: fn, from: [fn], of: columns } as const] : []),
  ];
}

/** Of other types REST has a smallest and a largest too, but for those it refuses. */
const isNumber = (type: string): boolean => NUMBERS.includes(type) || ['json', 'boolean'].includes(type);
