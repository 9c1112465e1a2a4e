import { FILTER_OPERATORS, type RawQuery } from '../contract.ts';
import { isFollowFilterKey } from './follow-filter-key.ts';
import { splitFieldPath } from './path-steps.ts';
import {
  assertQueryNesting,
  createInvalidQueryFailure,
  errorPathOfParameter,
  errorPathOfRelation,
  isObject,
  parseJsonParameter,
  parseNameListParameter,
  type QueryErrorPath,
} from './raw-values.ts';

// MAX_RELATIONAL_DEPTH limits the names of a path anywhere in a query: `author.country.name` has three, and so have
// `{ author: { country: { name: … } } }` in a filter and the sort `country.name` of `author` in `deep`. The depth is checked before
// names are resolved, so that it also limits unknown names and relations that are not selected.

/** The parameters of a node that have paths. */
type DepthParameters = Pick<RawQuery, 'filter' | 'sort' | 'groupBy' | 'aggregate' | 'alias'>;

/** Operators of a filter. The content of an operator is a value and not a path. */
const OPERATOR_KEYS: ReadonlySet<string> = new Set([...FILTER_OPERATORS, '_json']);
const LOGICAL_KEYS: ReadonlySet<string> = new Set(['_and', '_or', '_some', '_none']);

/** @throws INVALID_QUERY for a path with more names than MAX_RELATIONAL_DEPTH allows */
export function assertRelationalDepth(levels: number, most: number, path: QueryErrorPath): void {
  if (levels > most) throw createInvalidQueryFailure(`is ${levels} levels deep, more than the ${most} allowed`, path);
}

/** Checks dotted paths below a node at the depth `base`. */
export function assertPathDepths(entries: readonly string[], most: number, path: QueryErrorPath, base = 0): void {
  for (const [index, entry] of entries.entries()) {
    const names = entry.includes('(') ? splitFieldPath(entry.replace(/^-/, ''), path).length : entry.split('.').length;
    assertRelationalDepth(base + names, most, [...path, index]);
  }
}

/** Checks the parameters of a node at the depth `base`. */
export function assertParametersDepth(raw: DepthParameters, most: number, path: QueryErrorPath, base: number): void {
  const at = (name: string) => errorPathOfParameter(path, name);
  for (const name of ['sort', 'groupBy'] as const)
    if (raw[name] !== undefined) assertPathDepths(parseNameListParameter(raw[name], at(name)), most, at(name), base);
  for (const name of ['aggregate', 'alias'] as const) {
    const named = parseJsonParameter(raw[name], at(name));
    for (const [key, value] of Object.entries(isObject(named) ? named : {}))
      if (typeof value === 'string' || Array.isArray(value))
        assertPathDepths(parseNameListParameter(value, [...at(name), key]), most, [...at(name), key], base);
  }
  assertFilterDepth(raw.filter, most, at('filter'), base);
}

/** Checks a filter of a node at the depth `base`. */
export function assertFilterDepth(raw: unknown, most: number, path: QueryErrorPath, base = 0): void {
  const visit = (rule: unknown, here: QueryErrorPath, levels: number): void => {
    assertQueryNesting(here);
    if (Array.isArray(rule)) {
      for (const [index, one] of rule.entries()) visit(one, [...here, index], levels);
      return;
    }
    if (!isObject(rule)) return;
    for (const [key, inner] of Object.entries(rule)) {
      if (OPERATOR_KEYS.has(key)) continue;
      const below = levels + (LOGICAL_KEYS.has(key) ? 0 : countNames(key, here));
      assertRelationalDepth(below, most, [...here, key]);
      visit(inner, [...here, key], below);
    }
  };
  visit(parseJsonParameter(raw, path), path, base);
}

const countNames = (key: string, path: QueryErrorPath): number =>
  key.includes('(') && !isFollowFilterKey(key) ? splitFieldPath(key, path).length : 1;

/** Checks `deep`, also for relations that `fields` does not name. Keys with an underscore are parameters, all others relations. */
export function assertDeepParameterDepth(
  raw: Readonly<Record<string, unknown>>,
  most: number,
  path: QueryErrorPath = [],
  base = 0,
): void {
  assertQueryNesting(path);
  for (const [name, node] of Object.entries(raw)) {
    if (name.startsWith('_') || !isObject(node)) continue;
    const at = errorPathOfRelation(path, name);
    assertRelationalDepth(base + 1, most, at);
    const own = Object.entries(node).flatMap(([key, value]) => (key.startsWith('_') ? [[key.slice(1), value]] : []));
    assertParametersDepth(Object.fromEntries(own), most, at, base + 1);
    assertDeepParameterDepth(node, most, at, base + 1);
  }
}
