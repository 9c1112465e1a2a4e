import type { Where } from '../contract.ts';

export const EVERYTHING: Where = { kind: 'all', of: [] };
export const isEverything = (where: Where): boolean => where.kind === 'all' && where.of.length === 0;

type Many = Extract<Where, { kind: 'many' }>;

/**
 * The conjunction of conditions, flattened. Conditions on one to-many alias speak of the same related row (conventions,
 * "Relations"), so they become one; `_some` and `_none` each speak of rows of their own.
 */
export function all(conditions: readonly Where[]): Where {
  const flat: Where[] = [];
  const places = new Map<unknown, number>();
  for (const one of conditions.flatMap((each) => (each.kind === 'all' ? each.of : [each]))) {
    const side = isBare(one) ? (one.use.follow ?? one.use.field) : undefined;
    const place = side && places.get(side);
    if (place === undefined) {
      if (side) places.set(side, flat.length);
      flat.push(one);
    } else {
      const before = flat[place] as Many;
      flat[place] = { ...before, where: all([before.where, (one as Many).where]) };
    }
  }
  return flat.length === 1 ? (flat[0] as Where) : { kind: 'all', of: flat };
}

const isBare = (one: Where): one is Many => one.kind === 'many' && one.quantifier === 'some' && !one.own;
