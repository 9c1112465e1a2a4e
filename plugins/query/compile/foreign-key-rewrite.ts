import type { ConditionTree, FieldReference } from '../contract.ts';
import { isMatchAll } from '../parse/conjunction.ts';
import { manyToOneTargetField } from '../parse/parse-context.ts';

/** Types in which equal values are identical. */
const EXACT_TYPES: ReadonlySet<string> = new Set(['integer', 'bigInteger', 'uuid']);

/**
 * Rewrites a condition on only the key of a related row to one on the foreign key itself, which saves the join. Both mean the same when
 * a validated constraint guarantees the related row and no row rule hides it. Undefined when they differ.
 */
export function rewriteRelatedKeyCondition({
  use,
  to,
  rule,
  where,
}: Extract<ConditionTree, { kind: 'one' }>): ConditionTree | undefined {
  const { relation, type } = use.field;
  if (relation?.kind !== 'one' || !relation.relation.schema || relation.relation.notValidated) return undefined;
  if (use.fn || (rule && !isMatchAll(rule))) return undefined;
  const key = manyToOneTargetField(use.field, to);
  return EXACT_TYPES.has(type) && key.type === type && !isMatchAll(where)
    ? moveToForeignKey(where, key.name, use)
    : undefined;
}

function moveToForeignKey(where: ConditionTree, key: string, use: FieldReference): ConditionTree | undefined {
  if (where.kind === 'and' || where.kind === 'or') {
    const of = where.of.map((one) => moveToForeignKey(one, key, use));
    return of.every((one) => one !== undefined) ? { kind: where.kind, of } : undefined;
  }
  if (where.kind !== 'test' || where.use.field.name !== key || where.use.fn || where.use.when) return undefined;
  return { ...where, use };
}
