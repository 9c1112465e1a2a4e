import { parse } from 'qs';
import { fail } from '#kernel';
import type { HttpContext } from './contract.ts';
import type { QueryLimits } from './settings.ts';

const DEFAULT_LIMITS: QueryLimits = { depth: 10, list: 500, parameters: 1000 };
/** Nothing nested and nothing encoded: such text needs no parser. */
const UNENCODED = /^[^%+[\]\0]*$/;

/**
 * A query string with its brackets resolved. Objects have no prototype, so that no name in it means more than itself;
 * what goes over a limit is refused, never cut.
 */
export function parseQueryString(text: string, limits: QueryLimits = DEFAULT_LIMITS): Record<string, unknown> {
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
    // The package says it with the names of its own options.
    const isTooDeep = error instanceof RangeError && /depth/.test(error.message);
    const deep = `A name in the query has more brackets than the ${limits.depth} allowed.`;
    throw fail('INVALID_QUERY', isTooDeep ? deep : (error as Error).message);
  }
}

/** Undefined where something needs a closer look after all: many parameters, or one name twice, which makes a list. */
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

/** The request's query, parsed once. */
export function rawQueryOf(ctx: HttpContext): Record<string, unknown> {
  const { state } = ctx;
  if (!state.rawQuery) {
    const url = ctx.req.url ?? '';
    const at = url.indexOf('?');
    state.rawQuery = parseQueryString(at === -1 ? '' : url.slice(at + 1), state.settings?.limits);
  }
  return state.rawQuery;
}
