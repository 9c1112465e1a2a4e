import { type Caller, Failure, fail } from '#kernel';
import type { ConditionTree, PermissionRestricted } from '../../query/contract.ts';
import type { Collection } from '../../schema/contract.ts';
import type { AccessControl, PermissionAction, PermissionSet } from '../contract.ts';
import { restrictReadByPermissions } from './read.ts';
import type { PermissionRowRules } from './row-rules.ts';
import { restrictConditionByPermissions } from './where.ts';

interface Deps {
  readonly permissions: (caller: Caller) => Promise<PermissionSet>;
  readonly rules: PermissionRowRules;
  readonly seal: <T extends object>(tree: T) => PermissionRestricted<T>;
}

type Restrictions = Pick<AccessControl, 'restrict' | 'restrictWrite' | 'restrictFilter' | 'rowPermissions'>;

/** Adds the caller's permissions to query trees. The engine runs only trees that have the type `Restricted`. */
export function createQueryRestrictions({ permissions, rules, seal }: Deps): Restrictions {
  return {
    async restrict(read, caller, schema) {
      const set = await permissions(caller);
      return seal(set.admin ? read : restrictReadByPermissions(read, { set, schema, rules }));
    },

    async restrictWrite(collection, action, fields, caller, schema) {
      const set = await permissions(caller);
      if (set.admin) return seal<ConditionTree>({ kind: 'and', of: [] });
      const context = { set, schema, rules };
      const allowed = set.of(collection.name, action);
      if (allowed.length === 0) throw forbidden(collection, action);
      // For each written field a permission that lists it must apply to the row: one condition per field, joined by `and`.
      const uses = action === 'update' ? fields : [];
      const conditions = uses.map((name) => {
        const access = rules.fieldAccess(context, collection, action, name);
        if (!access) throw fail('FORBIDDEN', `field ${name} of ${collection.name} may not be written`);
        return access === true ? rules.rowRule(context, collection, action) : access;
      });
      return seal<ConditionTree>({
        kind: 'and',
        of: [rules.rowRule(context, collection, action), ...new Set(conditions)],
      });
    },

    async rowPermissions(collection, actions, caller, schema) {
      const set = await permissions(caller);
      const context = { set, schema, rules };
      return actions.flatMap((action) =>
        set.of(collection.name, action).flatMap((permission) => {
          const where = parseOrUndefined(() => rules.ruleOf(context, collection, permission));
          return where ? [{ action, permission, where: seal(where) }] : [];
        }),
      );
    },

    async restrictFilter(collection, where, caller, schema) {
      const set = await permissions(caller);
      if (set.admin) return seal(where);
      const context = { set, schema, rules };
      if (set.of(collection.name, 'read').length === 0) {
        if (where.kind === 'and' && where.of.length === 0) return seal(where);
        throw forbidden(collection, 'read');
      }
      const checked = restrictConditionByPermissions(where, collection, context);
      return seal<ConditionTree>({ kind: 'and', of: [rules.rowRule(context, collection, 'read'), checked] });
    },
  };
}

function parseOrUndefined(read: () => ConditionTree): ConditionTree | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Failure && error.code === 'FORBIDDEN') return undefined;
    throw error;
  }
}

const forbidden = (collection: Collection, action: PermissionAction) =>
  fail('FORBIDDEN', `no ${action} permission on ${collection.name}`);
