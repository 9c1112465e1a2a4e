import { fail } from '#kernel';
import type { ConditionTree, FieldReference, FilterOperand } from '../../query/contract.ts';
import { isCallerDynamicValue } from '../../query/library.ts';
import type { Collection } from '../../schema/contract.ts';
import type { PermissionRestrictionContext } from './row-rules.ts';

/**
 * Restricts a condition of the caller: every field on its paths must be readable, since a condition on an unreadable field would reveal its
 * values, and only related rows that the caller may read count.
 */
export function restrictConditionByPermissions(
  where: ConditionTree,
  collection: Collection,
  context: PermissionRestrictionContext,
): ConditionTree {
  switch (where.kind) {
    case 'and':
    case 'or':
      return { kind: where.kind, of: where.of.map((one) => restrictConditionByPermissions(one, collection, context)) };
    case 'test':
    case 'inside': {
      if (isReadByKey(where)) return where;
      const values = where.values.map((value) => restrictValue(value, context));
      return { ...where, use: restrictFieldUseByPermissions(where.use, collection, context), values };
    }
    case 'one':
    case 'many':
    case 'any':
      return {
        ...where,
        use: restrictFieldUseByPermissions(where.use, collection, context, where.to),
        rule: rowRuleOfRelatedCollection(where.to, context),
        where: restrictConditionByPermissions(where.where, where.to, context),
      };
    case 'reachable':
    case 'fixed':
      return where;
  }
}

/** `$CURRENT_USER.company.name` in a caller's own query: every step must be readable, as in every other path. */
function restrictValue(value: FilterOperand, context: PermissionRestrictionContext): FilterOperand {
  if (!isCallerDynamicValue(value) || !value.path) return value;
  const { start, steps: path } = value.path;
  let at = start;
  const steps = path.map((step) => {
    const use = restrictFieldUseByPermissions(step.use, at, context);
    if (!step.to) return { ...step, use };
    at = step.to;
    return { ...step, use, rule: rowRuleOfRelatedCollection(step.to, context) };
  });
  return { ...value, path: { ...value.path, rule: rowRuleOfRelatedCollection(start, context), steps } };
}

/** Whether the service added this comparison for a read by key; a query cannot contain it. */
const isReadByKey = ({ values: [value] }: Extract<ConditionTree, { kind: 'test' | 'inside' }>): boolean =>
  typeof value === 'object' && value !== null && value.dynamic === 'key';

/** The row rule of a related collection; FORBIDDEN when the caller may not read the collection. */
export function rowRuleOfRelatedCollection(to: Collection, context: PermissionRestrictionContext): ConditionTree {
  if (context.set.of(to.name, 'read').length === 0) throw fail('FORBIDDEN', `no read permission on ${to.name}`);
  return context.rules.rowRule(context, to, 'read');
}

/**
 * Restricts one use of a field in a query. A field that is readable on some rows is null on the others. For `$FOLLOW`, the
 * foreign key in the collection `to` must be readable on every row.
 * @throws FORBIDDEN for an unreadable field.
 */
export function restrictFieldUseByPermissions(
  use: FieldReference,
  collection: Collection,
  context: PermissionRestrictionContext,
  to?: Collection,
): FieldReference {
  const { follow, fn } = use;
  const field = follow ?? use.field;
  const home = follow && to ? to : collection;
  const access = context.rules.fieldAccess(context, home, 'read', field.name);
  if (access === false) throw fail('FORBIDDEN', `field ${field.name} of ${home.name} may not be read`);
  const counted =
    fn?.name === 'count' && fn.to ? { fn: { ...fn, rule: rowRuleOfRelatedCollection(fn.to, context) } } : {};
  // The field cannot be null on some of the followed rows, so it must be readable on every row.
  if (follow && access !== true)
    throw fail('FORBIDDEN', `field ${field.name} of ${home.name} may not be read on every row`);
  return access === true ? { ...use, ...counted } : { ...use, ...counted, when: access };
}
