import type { FieldUse, Where } from '../contract.ts';
import { isMatchAll } from '../parse/conjunction.ts';
import { targetField } from '../parse/parse-context.ts';

/** Types whose values that are equal are the same in every other respect as well. */
const EXACT_TYPES: ReadonlySet<string> = new Set(['integer', 'bigInteger', 'uuid']);

/**
 * A condition through a many-to-one that speaks of nothing but the key of the row it leads to, as one on the field itself:
 * where a constraint holds the field to the rows there are, and the caller may see all of them, the key of that row (null
 * without one) is the value of the field. Undefined where it is not.
 */
export function rewriteToForeignKey({ use, to, rule, where }: Extract<Where, { kind: 'one' }>): Where | undefined {
  const { relation, type } = use.field;
  if (relation?.kind !== 'one' || !relation.relation.schema || relation.relation.unchecked) return undefined;
  if (use.fn || (rule && !isMatchAll(rule))) return undefined;
  const key = targetField(use.field, to);
  return EXACT_TYPES.has(type) && key.type === type && !isMatchAll(where)
    ? moveToForeignKey(where, key.name, use)
    : undefined;
}

function moveToForeignKey(where: Where, key: string, use: FieldUse): Where | undefined {
  if (where.kind === 'all' || where.kind === 'either') {
    const of = where.of.map((one) => moveToForeignKey(one, key, use));
    return of.every((one) => one !== undefined) ? { kind: where.kind, of } : undefined;
  }
  if (where.kind !== 'test' || where.use.field.name !== key || where.use.fn || where.use.when) return undefined;
  return { ...where, use };
}
