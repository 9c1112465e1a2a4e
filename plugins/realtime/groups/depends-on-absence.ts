import type { ConditionTree } from '../../query/contract.ts';

/**
 * Whether a row rule may begin to match because related rows are gone: it asks that there are none, or that a value of a related row is
 * null. Related rows of a deleted row are often deleted with it, so such a rule cannot be judged afterwards.
 */
export function dependsOnAbsence(where: ConditionTree | undefined, isRelated = false): boolean {
  switch (where?.kind) {
    case undefined:
    case 'fixed':
    case 'reachable':
      return false;
    case 'and':
    case 'or':
      return where.of.some((one) => dependsOnAbsence(one, isRelated));
    case 'many':
      return where.quantifier === 'none' || dependsOnAbsence(where.where, true);
    case 'one':
    case 'any':
      return dependsOnAbsence(where.where, true);
    case 'inside':
    case 'test': {
      const countsRelated = where.use.fn?.name === 'count' && where.use.fn.to !== undefined;
      return countsRelated || (isRelated && asksForNull(where));
    }
  }
}

const asksForNull = ({ operator, values: [flag] }: Extract<ConditionTree, { kind: 'test' | 'inside' }>): boolean =>
  ((operator === '_null' || operator === '_empty') && flag === true) ||
  ((operator === '_nnull' || operator === '_nempty') && flag === false);
