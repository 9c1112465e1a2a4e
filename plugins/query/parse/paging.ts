import type { QueryCeilings } from './parse-context.ts';
import { invalidQuery, parameterPath, type QueryPath } from './raw-values.ts';

interface RawPaging {
  readonly limit?: unknown;
  readonly offset?: unknown;
  readonly page?: unknown;
}

/**
 * Parses limit, offset and page (conventions, 5). A limit of -1 is the largest limit, or all rows.
 * @throws INVALID_QUERY for a limit above the largest one
 */
export function parsePaging(
  raw: RawPaging,
  ceilings: QueryCeilings,
  path: QueryPath,
  unlimited: boolean,
): { limit: number | null; offset: number } {
  const requested = parseInteger(raw.limit, -1, parameterPath(path, 'limit'));
  // Page 0 is ignored (conventions, 4.1).
  const page = parseInteger(raw.page, 0, parameterPath(path, 'page')) || undefined;
  const offset = parseInteger(raw.offset, 0, parameterPath(path, 'offset')) ?? 0;
  const limit = resolveLimit(requested, ceilings, parameterPath(path, 'limit'), unlimited);
  // Without a limit every page has all rows.
  if (page === undefined || limit === null || requested === -1)
    return { limit, offset: page === undefined ? offset : 0 };
  const skipped = limit * (page - 1);
  if (!Number.isSafeInteger(skipped))
    throw invalidQuery(
      `begins at row ${skipped}, more than the ${Number.MAX_SAFE_INTEGER} allowed`,
      parameterPath(path, 'page'),
    );
  return { limit, offset: skipped };
}

function resolveLimit(
  requested: number | undefined,
  { limitDefault, limitMax }: QueryCeilings,
  path: QueryPath,
  unlimited: boolean,
): number | null {
  if (unlimited) return requested === undefined || requested === -1 ? null : requested;
  if (limitMax !== -1 && requested !== undefined && requested > limitMax)
    throw invalidQuery(`is ${requested}, more than the ${limitMax} allowed`, path);
  if (requested === -1) return limitMax === -1 ? null : limitMax;
  return requested ?? (limitMax === -1 ? limitDefault : Math.min(limitDefault, limitMax));
}

function parseInteger(raw: unknown, minimum: number, path: QueryPath): number | undefined {
  if (raw === undefined || raw === null || raw === '') return undefined;
  const value =
    typeof raw === 'number' ? raw : typeof raw === 'string' && /^[+-]?\d{1,15}$/.test(raw) ? Number(raw) : Number.NaN;
  if (!Number.isSafeInteger(value) || value < minimum)
    throw invalidQuery(`${quoteValue(raw)} is not a whole number of at least ${minimum}`, path);
  return value;
}

/** The text of a value for an error message. Query strings are parsed to objects without a prototype, which have no text. */
const quoteValue = (raw: unknown): string =>
  typeof raw === 'object' ? 'an object or a list' : `"${String(raw).slice(0, 40)}"`;
