import { fail } from '#kernel';

type Raw = Readonly<Record<string, unknown>>;

const invalid = (name: string, what: string) => fail('INVALID_QUERY', `"${name}" ${what}.`, { path: [name] });

function parseJson(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    throw invalid(name, 'is not JSON');
  }
}

/** Parses a list that is written as `a,b` or `["a","b"]`, or that is a list already. */
function parseList(name: string, value: unknown): string[] {
  const all = typeof value === 'string' && value.startsWith('[') ? parseJson(name, value) : value;
  if (Array.isArray(all)) return all.flatMap((one) => parseList(name, one));
  if (typeof all !== 'string') throw invalid(name, 'must be a list of texts');
  return all
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function parseInteger(name: string, value: unknown, smallest: number): number {
  const number = typeof value === 'number' ? value : Number(value === '' ? Number.NaN : value);
  if (!Number.isSafeInteger(number) || number < smallest) throw invalid(name, 'must be a whole number');
  return number;
}

/**
 * `req.sanitizedQuery`: the query of a request in the form in which services take it, every part with its own type. The
 * limit is capped at the ceiling (-1: none), which does not apply to reads by code.
 */
export function sanitizeQuery(raw: Raw, ceilings: { readonly default: number; readonly max: number }): Raw {
  const query: Record<string, unknown> = {};
  const take = (name: string, make: (value: unknown) => unknown) => {
    const value = raw[name];
    if (value !== undefined && value !== null && value !== '') query[name] = make(value);
  };
  const capLimit = (limit: number) =>
    ceilings.max === -1 ? limit : limit === -1 ? ceilings.max : Math.min(limit, ceilings.max);

  for (const name of ['fields', 'sort', 'groupBy', 'meta']) take(name, (value) => parseList(name, value));
  take('limit', (value) => parseInteger('limit', value, -1));
  query.limit = capLimit((query.limit as number | undefined) ?? ceilings.default);
  take('offset', (value) => parseInteger('offset', value, 0));
  take('page', (value) => parseInteger('page', value, 1));
  take('search', String);
  for (const name of ['filter', 'deep', 'alias']) take(name, (value) => parseJson(name, value));
  take('aggregate', (value) => {
    const all = parseJson('aggregate', value);
    if (typeof all !== 'object' || all === null) throw invalid('aggregate', 'must be an object');
    return Object.fromEntries(Object.entries(all).map(([name, fields]) => [name, parseList('aggregate', fields)]));
  });
  for (const name of ['export', 'version']) take(name, String);
  return query;
}
