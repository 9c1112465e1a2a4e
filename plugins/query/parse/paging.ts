import type { QueryCeilings } from './parse-context.ts';
import { createInvalidQueryFailure, errorPathOfParameter, type QueryErrorPath } from './raw-values.ts';

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
  path: QueryErrorPath,
  unlimited: boolean,
): { limit: number | null; offset: number } {
  const requested = parseInteger(raw.limit, -1, errorPathOfParameter(path, 'limit'));
  // Page 0 is ignored (conventions, 4.1).
  const page = parseInteger(raw.page, 0, errorPathOfParameter(path, 'page')) || undefined;
  const offset = parseInteger(raw.offset, 0, errorPathOfParameter(path, 'offset')) ?? 0;
  const limit = resolveLimit(requested, ceilings, errorPathOfParameter(path, 'limit'), unlimited);
  // Without a limit every page has all rows.
  if (page === undefined || limit === null || requested === -1)
    return { limit, offset: page === undefined ? offset : 0 };
  const skipped = limit * (page - 1);
  if (!Number.isSafeInteger(skipped))
    throw createInvalidQueryFailure(
      `begins at row ${skipped}, more than the ${Number.MAX_SAFE_INTEGER} allowed`,
      errorPathOfParameter(path, 'page'),
    );
  return { limit, offset: skipped };
}

function resolveLimit(
  requested: number | undefined,
  { limitDefault, limitMax }: QueryCeilings,
  path: QueryErrorPath,
  unlimited: boolean,
): number | null {
  if (unlimited) return requested === undefined || requested === -1 ? null : requested;
  if (limitMax !== -1 && requested !== undefined && requested > limitMax)
    throw createInvalidQueryFailure(`is ${requested}, more than the ${limitMax} allowed`, path);
  if (requested === -1) return limitMax === -1 ? null : limitMax;
  return requested ?? (limitMax === -1 ? limitDefault : Math.min(limitDefault, limitMax));
}

function parseInteger(raw: unknown, minimum: number, path: QueryErrorPath): number | undefined {
  if (raw === undefined || raw === null || raw === '') return undefined;
  const value =
    typeof raw === 'number' ? raw : typeof raw === 'string' && /^[+-]?\d{1,15}$/.test(raw) ? Number(raw) : Number.NaN;
  if (!Number.isSafeInteger(value) || value < minimum)
    throw createInvalidQueryFailure(`${quoteValue(raw)} is not a whole number of at least ${minimum}`, path);
  return value;
}

/** The text of a value for an error message. Query strings are parsed to objects without a prototype, which have no text. */
const quoteValue = (raw: unknown): string =>
  typeof raw === 'object' ? 'an object or a list' : `"${String(raw).slice(0, 40)}"`;
