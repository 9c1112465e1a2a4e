import { fail, type Log } from '#kernel';
import { nearestName } from '../workers/library.ts';
import type { HttpContext, Route } from './contract.ts';

/** What becomes of query parameters that the description of a route does not have. */
export type UnknownParametersMode = 'ignore' | 'warn' | 'refuse';

/** Lines in the log, one for each parameter of a route: clients may make up any number of names. */
const MAX_LOG_LINES = 100;
/** Names that one answer warns of. */
const MAX_WARNINGS = 5;
const MAX_NAME_LENGTH = 40;

/** Asked once a request, before its route. */
export interface ParameterCheck {
  /** @throws INVALID_QUERY with the nearest name, where unknown names are refused. */
  check(ctx: HttpContext, names: readonly string[], known: ReadonlySet<string>): void;
}

/**
 * The names that a route knows; undefined for routes that describe none, which may take any. Parameters of the query language
 * that mean nothing to one of its routes are no spelling mistakes.
 */
export function queryParametersOf({ description }: Pick<Route, 'description'>): ReadonlySet<string> | undefined {
  const { query, components } = description;
  if (!query) return undefined;
  return new Set(['access_token', ...Object.keys(query), ...Object.keys(components?.parameters ?? {})]);
}

/** The names of a query string up to their brackets, those of them that are not in `known`. */
export function findUnknownNames(text: string, known: ReadonlySet<string>): readonly string[] {
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

export function createParameterCheck(mode: UnknownParametersMode, log: Log): ParameterCheck {
  const logged = new Set<string>();

  function report(route: string, parameter: string, suggestion: string | undefined): void {
    const line = `${route} ${parameter}`;
    if (logged.size > MAX_LOG_LINES || logged.has(line)) return;
    logged.add(line);
    if (logged.size > MAX_LOG_LINES) log.warn({}, 'unknown query parameters: further ones are not logged');
    else log.warn({ route, parameter, ...(suggestion ? { suggestion } : {}) }, 'unknown query parameter');
  }

  return {
    check(ctx, names, known) {
      if (mode === 'ignore' || names.length === 0) return;
      const warnings = names.slice(0, MAX_WARNINGS).map((name) => {
        const meant = nearestName(name, known);
        const hint = meant ? `Did you mean "${meant}"?` : '';
        const shown = name.slice(0, MAX_NAME_LENGTH);
        if (mode === 'refuse')
          throw fail('INVALID_QUERY', `There is no query parameter "${shown}". ${hint}`.trim(), { path: [shown] });
        report(`${ctx.method} /${ctx.path.split('/')[1]}`, shown, meant);
        return `299 - "unknown query parameter ${toHeaderText(shown)}${meant ? `, did you mean ${meant}?` : ''}"`;
      });
      ctx.append('Warning', warnings.join(', '));
    },
  };
}

/** As a quoted text of a header may have it. */
const toHeaderText = (name: string): string => name.replace(/[^\w.:$-]/g, '?');
