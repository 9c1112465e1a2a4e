import { parse } from 'qs';
import { fail } from '#kernel';
import type { HttpContext } from './contract.ts';
import type { QueryStringLimits } from './settings.ts';

const DEFAULT_LIMITS: QueryStringLimits = { depth: 10, list: 500, parameters: 1000 };
/** A query string without brackets and escapes, which needs no full parser. */
const UNENCODED = /^[^%+[\]\0]*$/;

/**
 * Parses a query string with brackets into nested objects without a prototype, so that names such as `__proto__` are
 * ordinary.
 * @throws INVALID_QUERY for NUL characters, and over the limits of depth and parameters. Nothing is cut off silently.
 */
export function parseQueryString(text: string, limits: QueryStringLimits = DEFAULT_LIMITS): Record<string, unknown> {
  if (text === '') return { __proto__: null } as never;
  const plain = UNENCODED.test(text) ? parseFlat(text) : undefined;
  if (plain) return plain;
  if (text.includes('%00') || text.includes('\0')) throw fail('INVALID_QUERY', 'The query contains a NUL character.');
  const count = text.split('&').length;
  if (count > limits.parameters)
    throw fail('INVALID_QUERY', `The query has ${count} parameters, more than the ${limits.parameters} allowed.`);
  try {
    return parse(text, {
      depth: limits.depth,
      strictDepth: true,
      arrayLimit: limits.list,
      // A longer list becomes an object keyed by index, whose values operators accept as well.
      throwOnLimitExceeded: false,
      parameterLimit: limits.parameters,
      allowPrototypes: false,
      plainObjects: true,
    });
  } catch (error) {
    // qs words its message with the names of its own options.
    const isTooDeep = error instanceof RangeError && /depth/.test(error.message);
    const deep = `A name in the query has more brackets than the ${limits.depth} allowed.`;
    throw fail('INVALID_QUERY', isTooDeep ? deep : (error as Error).message);
  }
}

/**
 * Parses a plain query string; undefined for texts that need the full parser: many parameters, or a repeated name,
 * which makes a list.
 */
function parseFlat(text: string): Record<string, unknown> | undefined {
  const parts = text.split('&');
  if (parts.length > 50) return undefined;
  const query: Record<string, unknown> = { __proto__: null } as never;
  for (const part of parts) {
    const at = part.indexOf('=');
    const key = at === -1 ? part : part.slice(0, at);
    if (key === '' || key === '__proto__') continue;
    if (key in query) return undefined;
    query[key] = at === -1 ? '' : part.slice(at + 1);
  }
  return query;
}

/** The parsed query string of the request; parsed once. */
export function parsedQueryStringOf(ctx: HttpContext): Record<string, unknown> {
  const { state } = ctx;
  if (!state.rawQuery) {
    const url = ctx.req.url ?? '';
    const at = url.indexOf('?');
    state.rawQuery = parseQueryString(at === -1 ? '' : url.slice(at + 1), state.settings?.limits);
  }
  return state.rawQuery;
}
