import { Failure, fail } from '#kernel';
import type { ConditionTree, QueryEngine } from '../../query/contract.ts';
import type { Collection, Field, SchemaOverview } from '../../schema/contract.ts';
import type { Permission, PermissionAction, PermissionSet } from '../contract.ts';

export interface PermissionRestrictionContext {
  readonly set: PermissionSet;
  readonly schema: SchemaOverview;
  readonly rules: PermissionRowRules;
}

/** The rows on which a field is permitted: all permitted rows (`true`), those that match a condition, or none (`false`). */
export type FieldAccess = boolean | ConditionTree;

export interface PermissionRowRules {
  /** The condition on the rows that an action may touch: the rules of all permissions joined by `or`. */
  rowRule(context: PermissionRestrictionContext, collection: Collection, action: PermissionAction): ConditionTree;
  /** The parsed rule of one permission. @throws FORBIDDEN for a malformed rule */
  ruleOf(context: PermissionRestrictionContext, collection: Collection, permission: Permission): ConditionTree;
  fieldAccess(
    context: PermissionRestrictionContext,
    collection: Collection,
    action: PermissionAction,
    field: string,
  ): FieldAccess;
}

const MATCH_ALL: ConditionTree = { kind: 'and', of: [] };
const MATCH_NONE: ConditionTree = { kind: 'fixed', value: false };

/** With a share, the condition on the rows that it reaches, which replaces every row rule; undefined without one. */
const reachableRowsCondition = ({ set, schema }: PermissionRestrictionContext, { name }: Collection) =>
  set.reachable && (set.reachable(schema).get(name) ?? MATCH_NONE);

/**
 * Whether a permission lists a field. `*` is all fields but the sensitive ones, which must be listed by name (decisions: field lists on
 * users). A composite field is listed when all of its columns are.
 */
export const permissionListsField = (permission: Permission, name: string, field: Field | undefined): boolean =>
  field?.parts
    ? field.parts.every((part) => permissionListsField(permission, part.name, part))
    : permission.fields.includes(name) || (permission.fields.includes('*') && !field?.sensitive);

/** Finds a field by its name, also the composite key, which `fields` does not contain. */
const fieldNamed = ({ fields, key }: Collection, name: string): Field | undefined =>
  fields.get(name) ?? (key?.name === name ? key : undefined);

/**
 * Parses stored rules, once per permission set and schema version. A permission set is immutable and replaced when a permission changes,
 * so it is the key of the cache.
 */
export function createPermissionRowRules(query: Pick<QueryEngine, 'parseFilter'>): PermissionRowRules {
  const parsed = new WeakMap<PermissionSet, { version: string; rules: Map<Permission, ConditionTree> }>();

  function ruleOf(
    context: PermissionRestrictionContext,
    collection: Collection,
    permission: Permission,
  ): ConditionTree {
    const reachable = reachableRowsCondition(context, collection);
    if (reachable) return reachable;
    let entry = parsed.get(context.set);
    if (entry?.version !== context.schema.version) {
      entry = { version: context.schema.version, rules: new Map() };
      parsed.set(context.set, entry);
    }
    let rule = entry.rules.get(permission);
    if (!rule) {
      rule = permission.rule ? parseRule(context, collection, permission.rule) : MATCH_ALL;
      entry.rules.set(permission, rule);
    }
    return rule;
  }

  /** The error of a malformed rule is only logged: the response must not show the rule to the caller. */
  function parseRule(
    context: PermissionRestrictionContext,
    collection: Collection,
    rule: Record<string, unknown>,
  ): ConditionTree {
    try {
      return query.parseFilter(collection, rule, context.schema, { trusted: true });
    } catch (error) {
      if (!(error instanceof Failure) || error.code === 'FORBIDDEN') throw error;
      throw fail('FORBIDDEN', `a permission rule of ${collection.name} cannot be read: ${error.detail}`);
    }
  }

  const orRules = (
    context: PermissionRestrictionContext,
    collection: Collection,
    permissions: readonly Permission[],
  ): ConditionTree => {
    const rules = permissions.map((one) => ruleOf(context, collection, one));
    if (rules.some((rule) => rule.kind === 'and' && rule.of.length === 0)) return MATCH_ALL;
    return rules.length === 1 ? (rules[0] as ConditionTree) : { kind: 'or', of: rules };
  };

  return {
    ruleOf,
    rowRule: (context, collection, action) =>
      reachableRowsCondition(context, collection) ??
      orRules(context, collection, context.set.of(collection.name, action)),
    fieldAccess(context, collection, action, name) {
      const permissions = context.set.of(collection.name, action);
      const listing = permissions.filter((one) => permissionListsField(one, name, fieldNamed(collection, name)));
      if (listing.length === 0) return false;
      if (listing.length === permissions.length) return true;
      const rule = orRules(context, collection, listing);
      return rule.kind === 'and' && rule.of.length === 0 ? true : rule;
    },
  };
}
