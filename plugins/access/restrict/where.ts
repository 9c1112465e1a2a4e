import { fail } from '#kernel';
import type { FieldUse, Where } from '../../query/contract.ts';
import type { Collection } from '../../schema/contract.ts';
import type { Scope } from './rules.ts';

/**
 * A caller's own condition: every field on the way and at the end must be readable (an unreadable one would be an
 * oracle), and related rows count only where the caller may read them.
 */
export function restrictWhere(where: Where, collection: Collection, scope: Scope): Where {
  switch (where.kind) {
    case 'all':
    case 'either':
      return { kind: where.kind, of: where.of.map((one) => restrictWhere(one, collection, scope)) };
    case 'test':
      return asksForKey(where) ? where : { ...where, use: restrictUse(where.use, collection, scope) };
    case 'one':
    case 'many':
      return {
        ...where,
        use: restrictUse(where.use, collection, scope),
        rule: relatedRule(where.to, scope),
        where: restrictWhere(where.where, where.to, scope),
      };
    case 'fixed':
      return where;
  }
}

/** The service's own comparison in a read by key; no query can contain it. */
const asksForKey = ({ values: [value] }: Extract<Where, { kind: 'test' }>): boolean =>
  typeof value === 'object' && value !== null && value.dynamic === 'key';

/** The row rule of a related collection; FORBIDDEN where the caller may not read it at all. */
export function relatedRule(to: Collection, scope: Scope): Where {
  if (scope.set.of(to.name, 'read').length === 0) throw fail('FORBIDDEN', `no read permission on ${to.name}`);
  return scope.rules.rowRule(scope, to, 'read');
}

/** FORBIDDEN for a field that may not be read; one readable on some rows only is null on the others. */
export function restrictUse(use: FieldUse, collection: Collection, scope: Scope): FieldUse {
  const { field } = use;
  const access = scope.rules.fieldAccess(scope, collection, 'read', field.name);
  if (access === false) throw fail('FORBIDDEN', `field ${field.name} of ${collection.name} may not be read`);
  return access === true ? use : { field, when: access };
}
