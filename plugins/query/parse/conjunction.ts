import type { ConditionTree } from '../contract.ts';

export const MATCH_ALL: ConditionTree = { kind: 'and', of: [] };
export const isMatchAll = (where: ConditionTree): boolean => where.kind === 'and' && where.of.length === 0;

type ToManyCondition = Extract<ConditionTree, { kind: 'many' }>;

/**
 * The flattened conjunction of conditions. Conditions on one to-many alias are about the same related row (conventions, "Relations"),
 * so they are merged; each `_some` and `_none` is about its own rows.
 */
export function buildConjunction(conditions: readonly ConditionTree[]): ConditionTree {
  const flat: ConditionTree[] = [];
  const places = new Map<unknown, number>();
  for (const one of conditions.flatMap((each) => (each.kind === 'and' ? each.of : [each]))) {
    const side = isMergeable(one) ? (one.use.follow ?? one.use.field) : undefined;
    const place = side && places.get(side);
    if (place === undefined) {
      if (side) places.set(side, flat.length);
      flat.push(one);
    } else {
      const before = flat[place] as ToManyCondition;
      flat[place] = { ...before, where: buildConjunction([before.where, (one as ToManyCondition).where]) };
    }
  }
  return flat.length === 1 ? (flat[0] as ConditionTree) : { kind: 'and', of: flat };
}

const isMergeable = (one: ConditionTree): one is ToManyCondition =>
  one.kind === 'many' && one.quantifier === 'some' && !one.own;
