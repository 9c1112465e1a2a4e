import type { RawQuery } from '../../query/contract.ts';
import { assertBoundedFilter } from './assert-filter-bounds.ts';
import { createInvalidRequestRefusal, isObject, isPathStep } from './input-checks.ts';

/** Bounds of a query of confined code (conventions, "items"). */
const QUERY_BOUNDS = { limit: 100, skip: 10_000, fields: 64, path: 128, depth: 3, sort: 8, search: 256 } as const;

const KEYS: ReadonlySet<string> = new Set(['fields', 'filter', 'sort', 'limit', 'offset', 'page', 'search']);

/** A query within its bounds. `fields` without `*` are names that were requested one by one. */
export interface BoundedQuery extends RawQuery {
  readonly fields: readonly string[];
  readonly limit: number;
}

/**
 * Parses a query and fills in its bounds. `max` is the operator's own limit of rows, -1 for none.
 * @throws Refusal `invalid_request`
 */
export function parseBoundedQuery(raw: unknown, max: number): BoundedQuery {
  if (raw !== undefined && raw !== null && !isObject(raw)) throw createInvalidRequestRefusal('A query is an object.');
  const values = Object.fromEntries(
    Object.entries(raw ?? {}).filter(([, value]) => value !== undefined && value !== null),
  );
  const unknown = Object.keys(values).find((key) => !KEYS.has(key));
  if (unknown !== undefined) throw createInvalidRequestRefusal(`A query has no "${unknown.slice(0, 40)}" here.`);
  const { fields = ['*'], filter, sort = [], search } = values;
  if (filter !== undefined) assertBoundedFilter(filter);
  if (search !== undefined && (typeof search !== 'string' || search.length > QUERY_BOUNDS.search))
    throw createInvalidRequestRefusal(`"search" is a text of at most ${QUERY_BOUNDS.search} characters.`);
  return {
    fields: parsePaths('fields', fields, QUERY_BOUNDS.fields, (path) => path),
    sort: parsePaths('sort', sort, QUERY_BOUNDS.sort, (path) => path.replace(/^-/, '')),
    ...(filter === undefined ? {} : { filter }),
    ...(search === undefined ? {} : { search }),
    ...parsePaging(values, max === -1 ? QUERY_BOUNDS.limit : Math.min(QUERY_BOUNDS.limit, max)),
  };
}

function parsePaging({ limit, offset, page }: Record<string, unknown>, max: number) {
  const count = Math.min(parseInteger('limit', limit, 1) ?? max, max);
  const offsetRows = parseInteger('offset', offset, 0);
  const number = parseInteger('page', page, 1);
  if ((offsetRows ?? 0) > QUERY_BOUNDS.skip || (number ?? 0) * count > QUERY_BOUNDS.skip)
    throw createInvalidRequestRefusal(`A query skips at most ${QUERY_BOUNDS.skip} rows.`);
  return {
    limit: count,
    ...(offsetRows === undefined ? {} : { offset: offsetRows }),
    ...(number === undefined ? {} : { page: number }),
  };
}

function parseInteger(name: string, value: unknown, min: number): number | undefined {
  if (value === undefined) return undefined;
  if (!Number.isSafeInteger(value) || (value as number) < min)
    throw createInvalidRequestRefusal(`"${name}" is a whole number of at least ${min}.`);
  return value as number;
}

function parsePaths(
  name: string,
  raw: unknown,
  max: number,
  toFieldPath: (entry: string) => string,
): readonly string[] {
  const list: unknown = typeof raw === 'string' ? raw.split(',') : raw;
  if (!Array.isArray(list) || list.length > max)
    throw createInvalidRequestRefusal(`"${name}" is a list of at most ${max} names.`);
  return list.map((entry: unknown) => {
    if (typeof entry !== 'string' || entry.length > QUERY_BOUNDS.path)
      throw createInvalidRequestRefusal(`"${name}" has names of at most ${QUERY_BOUNDS.path} characters.`);
    const text = entry.trim();
    const steps = toFieldPath(text).split('.');
    const isAll = name === 'fields' && text === '*';
    if (!isAll && (steps.length > QUERY_BOUNDS.depth || !steps.every(isPathStep)))
      throw createInvalidRequestRefusal(
        `"${name}" has paths of at most ${QUERY_BOUNDS.depth} names, without wildcards in them.`,
      );
    return text;
  });
}
