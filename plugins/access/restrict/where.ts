import { fail } from '#kernel';
import type { FieldUse, Value, Where } from '../../query/contract.ts';
import { isCallerValue } from '../../query/library.ts';
import type { Collection } from '../../schema/contract.ts';
import type { RestrictContext } from './rules.ts';

/**
 * A caller's own condition: every field on the way and at the end must be readable (an unreadable one would be an
 * oracle), and related rows count only where the caller may read them.
 */
export function restrictWhere(where: Where, collection: Collection, context: RestrictContext): Where {
  switch (where.kind) {
    case 'all':
    case 'either':
      return { kind: where.kind, of: where.of.map((one) => restrictWhere(one, collection, context)) };
    case 'test':
    case 'inside': {
      if (isReadByKey(where)) return where;
      const values = where.values.map((value) => restrictValue(value, context));
      return { ...where, use: restrictUse(where.use, collection, context), values };
    }
    case 'one':
    case 'many':
    case 'any':
      return {
        ...where,
        use: restrictUse(where.use, collection, context, where.to),
        rule: relatedRule(where.to, context),
        where: restrictWhere(where.where, where.to, context),
      };
    case 'fixed':
      return where;
  }
}

/** `$CURRENT_USER.company.name` in a caller's own query: every step must be readable, as in any other path. */
function restrictValue(value: Value, context: RestrictContext): Value {
  if (!isCallerValue(value) || !value.via) return value;
  const { start, path } = value.via;
  let at = start;
  const steps = path.map((step) => {
    const use = restrictUse(step.use, at, context);
    if (!step.to) return { ...step, use };
    at = step.to;
    return { ...step, use, rule: relatedRule(step.to, context) };
  });
  return { ...value, via: { ...value.via, rule: relatedRule(start, context), path: steps } };
}

/** The service's own comparison in a read by key; no query can contain it. */
const isReadByKey = ({ values: [value] }: Extract<Where, { kind: 'test' | 'inside' }>): boolean =>
  typeof value === 'object' && value !== null && value.dynamic === 'key';

/** The row rule of a related collection; FORBIDDEN where the caller may not read it at all. */
export function relatedRule(to: Collection, context: RestrictContext): Where {
  if (context.set.of(to.name, 'read').length === 0) throw fail('FORBIDDEN', `no read permission on ${to.name}`);
  return context.rules.rowRule(context, to, 'read');
}

/**
 * FORBIDDEN for a field that may not be read; one readable on some rows only is null on the others. Of a `$FOLLOW` to
 * `to` it is the field on the far side that counts.
 */
export function restrictUse(
  use: FieldUse,
  collection: Collection,
  context: RestrictContext,
  to?: Collection,
): FieldUse {
  const { follow, fn } = use;
  const field = follow ?? use.field;
  const home = follow && to ? to : collection;
  const access = context.rules.fieldAccess(context, home, 'read', field.name);
  if (access === false) throw fail('FORBIDDEN', `field ${field.name} of ${home.name} may not be read`);
  const counted = fn?.name === 'count' && fn.to ? { fn: { ...fn, rule: relatedRule(fn.to, context) } } : {};
  // A condition on the far side is about rows there, which the row rule of that collection covers only as a whole.
  if (follow && access !== true)
    throw fail('FORBIDDEN', `field ${field.name} of ${home.name} may not be read on every row`);
  return access === true ? { ...use, ...counted } : { ...use, ...counted, when: access };
}
