import { createInvalidRequestRefusal, isObject, isPathStep } from './input-checks.ts';

/** Bounds of a filter of confined code (conventions, "items"). */
const MAX = { depth: 8, nodes: 256, branches: 16, list: 100 } as const;

const LISTS: ReadonlySet<string> = new Set(['_in', '_nin', '_between', '_nbetween']);
// biome-ignore format: a list of names
const OPERATORS: ReadonlySet<string> = new Set([
  '_eq', '_neq', '_lt', '_lte', '_gt', '_gte', '_in', '_nin', '_between', '_nbetween', '_null', '_nnull', '_empty',
  '_nempty', '_contains', '_ncontains', '_icontains', '_starts_with', '_nstarts_with', '_ends_with', '_nends_with',
]);

/**
 * Asserts that a filter is within a smaller grammar than that of a request. The parser and the caller's permissions
 * check its names later.
 */
export function assertBoundedFilter(filter: unknown): void {
  let nodes = 0;
  const count = (depth: number) => {
    if (depth > MAX.depth) throw createInvalidRequestRefusal(`The filter is nested deeper than ${MAX.depth} levels.`);
    if (++nodes > MAX.nodes) throw createInvalidRequestRefusal(`The filter has more than ${MAX.nodes} parts.`);
  };

  function group(one: unknown, depth: number): void {
    if (!isObject(one)) throw createInvalidRequestRefusal('A filter is an object.');
    count(depth);
    for (const [key, rule] of Object.entries(one)) {
      count(depth);
      if (key === '_and' || key === '_or') branches(key, rule, depth);
      else field(key, rule, depth);
    }
  }

  function branches(key: string, list: unknown, depth: number): void {
    if (!Array.isArray(list) || list.length < 1 || list.length > MAX.branches)
      throw createInvalidRequestRefusal(`${key} takes a list of 1 to ${MAX.branches} filters.`);
    for (const one of list) group(one, depth + 1);
  }

  function field(name: string, rule: unknown, depth: number): void {
    if (!isPathStep(name)) throw createInvalidRequestRefusal('A filter names a field, or a function of one.');
    const [entry, ...more] = isObject(rule) ? Object.entries(rule) : [];
    if (!entry || more.length > 0)
      throw createInvalidRequestRefusal('A field of a filter has one operator or one field.');
    const [key, value] = entry;
    count(depth + 1);
    if (!key.startsWith('_')) field(key, value, depth + 1);
    else if (OPERATORS.has(key)) assertOperand(key, value);
    else throw createInvalidRequestRefusal(`A filter has no operator "${key.slice(0, 40)}" here.`);
  }

  group(filter, 0);
}

function assertOperand(operator: string, value: unknown): void {
  if (!LISTS.has(operator)) {
    if (typeof value === 'object' && value !== null) throw createInvalidRequestRefusal(`${operator} takes one value.`);
  } else if (!Array.isArray(value) || value.length > MAX.list) {
    throw createInvalidRequestRefusal(`${operator} takes a list of at most ${MAX.list} values.`);
  }
}
