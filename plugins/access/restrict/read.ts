import { fail } from '#kernel';
import type { Aggregation, FieldReference, OrderBy, Projection, ReadNode } from '../../query/contract.ts';
import { keyColumns, keyProjections } from '../../query/library.ts';
import type { Collection } from '../../schema/contract.ts';
import type { PermissionRestrictionContext } from './row-rules.ts';
import { restrictConditionByPermissions, restrictFieldUseByPermissions, rowRuleOfRelatedCollection } from './where.ts';

/** Restricts a tree: adds row rules to every node and removes unreadable projections. */
export function restrictReadByPermissions(read: ReadNode, context: PermissionRestrictionContext): ReadNode {
  const { collection } = read;
  if (context.set.of(collection.name, 'read').length === 0) {
    throw fail('FORBIDDEN', `no read permission on ${collection.name}`);
  }
  return {
    ...read,
    rule: context.rules.rowRule(context, collection, 'read'),
    where: restrictConditionByPermissions(read.where, collection, context),
    searchFields: read.searchFields.flatMap((use) => restrictSearchField(use, collection, context)),
    order: withTieBreaker(
      read.order.map((one) => restrictOrder(one, collection, context)),
      collection,
    ),
    projections: restrictProjections(read.projections, collection, context, read.exact),
    ...(read.aggregate ? { aggregate: restrictAggregate(read.aggregate, collection, context) } : {}),
  };
}

/** Every field must be readable; a field that is readable on some rows counts as null on the others. */
function restrictAggregate(
  aggregate: Aggregation,
  collection: Collection,
  context: PermissionRestrictionContext,
): Aggregation {
  return {
    ...aggregate,
    groups: aggregate.groups.map((one) => ({
      ...one,
      use: restrictFieldUseByPermissions(one.use, collection, context),
    })),
    functions: aggregate.functions.map((one) => ({
      ...one,
      use: one.use && restrictFieldUseByPermissions(one.use, collection, context),
    })),
  };
}

function restrictSearchField(
  use: FieldReference,
  collection: Collection,
  context: PermissionRestrictionContext,
): readonly FieldReference[] {
  const access = context.rules.fieldAccess(context, collection, 'read', use.field.name);
  return access === false ? [] : [access === true ? use : { field: use.field, when: access }];
}

function restrictOrder(order: OrderBy, collection: Collection, context: PermissionRestrictionContext): OrderBy {
  if (order.implied) return order;
  let at = collection;
  const path = order.path.map((step) => {
    const use = restrictFieldUseByPermissions(step.use, at, context);
    at = step.to;
    return { ...step, use, rule: rowRuleOfRelatedCollection(step.to, context) };
  });
  return { ...order, path, use: restrictFieldUseByPermissions(order.use, at, context) };
}

/**
 * Adds the primary key as a last sort key that permissions do not restrict, when the caller sees the key as null on some rows:
 * pages of rows with equal sort values would overlap.
 */
function withTieBreaker(order: readonly OrderBy[], collection: Collection): readonly OrderBy[] {
  const columns = keyColumns(collection);
  const hidden = order.filter(
    ({ path, use }) => path.length === 0 && !use.fn && use.when && columns.includes(use.field),
  );
  const implied = hidden.map(
    ({ use: { field } }): OrderBy => ({ path: [], use: { field }, descending: false, implied: true }),
  );
  return implied.length > 0 ? [...order, ...implied] : order;
}

/**
 * Removes unreadable fields and relations to unreadable collections without an error. In a selection (`exact`) they are null, since its
 * answer has every item.
 */
const restrictProjections = (
  picks: readonly Projection[],
  collection: Collection,
  context: PermissionRestrictionContext,
  exact = false,
): readonly Projection[] =>
  picks.flatMap((pick) => {
    const left = restrictProjection(pick, collection, context);
    return left.length === 0 && exact ? [{ kind: 'constant', key: pick.key, value: null }] : left;
  });

function restrictProjection(
  pick: Projection,
  collection: Collection,
  context: PermissionRestrictionContext,
): readonly Projection[] {
  if (pick.kind === 'constant') return [pick];
  if (pick.kind === 'object')
    return [{ ...pick, projections: restrictProjections(pick.projections, collection, context, true) }];
  const access = context.rules.fieldAccess(context, collection, 'read', pick.field.name);
  if (access === false) return [];
  const when = access === true ? {} : { when: access };
  if (pick.kind === 'column') {
    if (pick.fn?.name !== 'count' || !pick.fn.to) return [{ ...pick, ...when }];
    if (context.set.of(pick.fn.to.name, 'read').length === 0) return [];
    return [{ ...pick, ...when, fn: { ...pick.fn, rule: context.rules.rowRule(context, pick.fn.to, 'read') } }];
  }
  if (pick.kind === 'any') return [{ ...pick, ...when, reads: pick.reads.map((one) => restrictTarget(one, context)) }];
  if (context.set.of(pick.read.collection.name, 'read').length === 0) return [];
  if (pick.kind !== 'keys') return [{ ...pick, ...when, read: restrictReadByPermissions(pick.read, context) }];
  const read = restrictReadByPermissions({ ...pick.read, projections: [] }, context);
  const keys = restrictKeys(read.collection, context);
  return keys.length > 0 ? [{ ...pick, ...when, read: { ...read, projections: keys } }] : [];
}

/**
 * A list of keys needs only the row rule, since it shows no field. A composite key shows the values of its columns, such as the related
 * row of a junction, so its columns must be readable.
 */
function restrictKeys(collection: Collection, context: PermissionRestrictionContext): readonly Projection[] {
  const picks = keyProjections(collection);
  return collection.key?.parts ? restrictProjections(picks, collection, context) : picks;
}

/**
 * Restricts the read of one target collection of a many-to-any. Rows of an unreadable collection are null, like single unreadable
 * rows.
 */
const restrictTarget = (read: ReadNode, context: PermissionRestrictionContext): ReadNode =>
  context.set.of(read.collection.name, 'read').length > 0
    ? restrictReadByPermissions(read, context)
    : { ...read, where: { kind: 'fixed', value: false }, searchFields: [], projections: [] };
