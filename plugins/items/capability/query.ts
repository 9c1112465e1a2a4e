import type { RawQuery } from '../../query/contract.ts';
import { checkFilter } from './filter.ts';
import { invalid, isObject, isStep } from './shape.ts';

/** Bounds of a query of confined code (conventions, "items"). */
const MAX = { limit: 100, skip: 10_000, fields: 64, path: 128, depth: 3, sort: 8, search: 256 } as const;

const KEYS: ReadonlySet<string> = new Set(['fields', 'filter', 'sort', 'limit', 'offset', 'page', 'search']);

/** What is left of a query once it is checked. Names without `*` are those that were asked for one by one. */
export interface CheckedQuery extends RawQuery {
  readonly fields: readonly string[];
  readonly limit: number;
}

/** The query with its bounds filled in, or `invalid_request`. `most` is the operator's own ceiling, -1 for none. */
export function checkedQuery(raw: unknown, most: number): CheckedQuery {
  if (raw !== undefined && raw !== null && !isObject(raw)) throw invalid('A query is an object.');
  const given = Object.fromEntries(
    Object.entries(raw ?? {}).filter(([, value]) => value !== undefined && value !== null),
  );
  const unknown = Object.keys(given).find((key) => !KEYS.has(key));
  if (unknown !== undefined) throw invalid(`A query has no "${unknown.slice(0, 40)}" here.`);
  const { fields = ['*'], filter, sort = [], search } = given;
  if (filter !== undefined) checkFilter(filter);
  if (search !== undefined && (typeof search !== 'string' || search.length > MAX.search))
    throw invalid(`"search" is a text of at most ${MAX.search} characters.`);
  return {
    fields: paths('fields', fields, MAX.fields, (path) => path),
    sort: paths('sort', sort, MAX.sort, (path) => path.replace(/^-/, '')),
    ...(filter === undefined ? {} : { filter }),
    ...(search === undefined ? {} : { search }),
    ...paging(given, most === -1 ? MAX.limit : Math.min(MAX.limit, most)),
  };
}

function paging({ limit, offset, page }: Record<string, unknown>, most: number) {
  const count = Math.min(whole('limit', limit, 1) ?? most, most);
  const skipped = whole('offset', offset, 0);
  const number = whole('page', page, 1);
  if ((skipped ?? 0) > MAX.skip || (number ?? 0) * count > MAX.skip)
    throw invalid(`A query reaches at most ${MAX.skip} rows into a list.`);
  return {
    limit: count,
    ...(skipped === undefined ? {} : { offset: skipped }),
    ...(number === undefined ? {} : { page: number }),
  };
}

function whole(name: string, value: unknown, least: number): number | undefined {
  if (value === undefined) return undefined;
  if (!Number.isSafeInteger(value) || (value as number) < least)
    throw invalid(`"${name}" is a whole number of at least ${least}.`);
  return value as number;
}

function paths(name: string, raw: unknown, most: number, pathOf: (entry: string) => string): readonly string[] {
  const list: unknown = typeof raw === 'string' ? raw.split(',') : raw;
  if (!Array.isArray(list) || list.length > most) throw invalid(`"${name}" is a list of at most ${most} names.`);
  return list.map((entry: unknown) => {
    if (typeof entry !== 'string' || entry.length > MAX.path)
      throw invalid(`"${name}" has names of at most ${MAX.path} characters.`);
    const text = entry.trim();
    const steps = pathOf(text).split('.');
    const isAll = name === 'fields' && text === '*';
    if (!isAll && (steps.length > MAX.depth || !steps.every(isStep)))
      throw invalid(`"${name}" has paths of at most ${MAX.depth} names, without wildcards in them.`);
    return text;
  });
}
