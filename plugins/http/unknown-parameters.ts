import { fail, type Log } from '#kernel';
import { findNearestName } from '../workers/library.ts';
import type { HttpContext, Route } from './contract.ts';

/** What happens to query parameters that the description of a route does not have. */
export type UnknownParametersMode = 'ignore' | 'warn' | 'refuse';

/** Log lines in all, one for each parameter of a route: clients can invent any number of names. */
const MAX_LOG_LINES = 100;
/** Names in the `Warning` header of one response. */
const MAX_WARNINGS = 5;
const MAX_NAME_LENGTH = 40;

/** Called once for each request, before its route. */
export interface UnknownParameterCheck {
  /** @throws INVALID_QUERY with the nearest known name, in mode `refuse`. */
  check(ctx: HttpContext, names: readonly string[], known: ReadonlySet<string>): void;
}

/**
 * The query parameters that a route describes; undefined for routes that describe none and may read any. Parameters of
 * the query language that a route does not use count as known: they are no spelling mistakes.
 */
export function describedQueryParameterNamesOf({
  description,
}: Pick<Route, 'description'>): ReadonlySet<string> | undefined {
  const { query, components } = description;
  if (!query) return undefined;
  return new Set(['access_token', ...Object.keys(query), ...Object.keys(components?.parameters ?? {})]);
}

/** Names in a query string, without their brackets, that are not in `known`. */
export function findUnknownParameterNames(text: string, known: ReadonlySet<string>): readonly string[] {
  if (text === '') return [];
  const unknown = new Set<string>();
  for (let from = 0; from <= text.length && unknown.size < MAX_WARNINGS; ) {
    const next = text.indexOf('&', from);
    const end = next === -1 ? text.length : next;
    const name = readName(text, from, end);
    if (name !== '' && !known.has(name)) unknown.add(name);
    from = end + 1;
  }
  return [...unknown];
}

function readName(text: string, from: number, end: number): string {
  let to = from;
  while (to < end && text[to] !== '=' && text[to] !== '[') to++;
  const name = text.slice(from, to);
  if (!name.includes('%') && !name.includes('+')) return name;
  try {
    return decodeURIComponent(name.replaceAll('+', ' ')).split('[', 1)[0] as string;
  } catch {
    return name;
  }
}

export function createUnknownParameterCheck(mode: UnknownParametersMode, log: Log): UnknownParameterCheck {
  const logged = new Set<string>();

  function report(route: string, parameter: string, suggestion: string | undefined): void {
    const line = `${route} ${parameter}`;
    if (logged.size > MAX_LOG_LINES || logged.has(line)) return;
    logged.add(line);
    if (logged.size > MAX_LOG_LINES) log.warn({}, 'unknown query parameters: further ones are not logged');
    else log.warn({ route, parameter, ...(suggestion ? { meant: suggestion } : {}) }, 'unknown query parameter');
  }

  return {
    check(ctx, names, known) {
      if (mode === 'ignore' || names.length === 0) return;
      const warnings = names.slice(0, MAX_WARNINGS).map((name) => {
        const suggestion = findNearestName(name, known);
        const hint = suggestion ? `Did you mean "${suggestion}"?` : '';
        const shown = name.slice(0, MAX_NAME_LENGTH);
        if (mode === 'refuse')
          throw fail('INVALID_QUERY', `There is no query parameter "${shown}". ${hint}`.trim(), { path: [shown] });
        report(`${ctx.method} /${ctx.path.split('/')[1]}`, shown, suggestion);
        return `299 - "unknown query parameter ${toHeaderText(shown)}${suggestion ? `, did you mean ${suggestion}?` : ''}"`;
      });
      ctx.append('Warning', warnings.join(', '));
    },
  };
}

/** Replaces the characters that a quoted text of a header may not contain. */
const toHeaderText = (name: string): string => name.replace(/[^\w.:$-]/g, '?');
