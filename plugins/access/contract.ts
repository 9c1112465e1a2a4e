import { type Caller, service } from '#kernel';
import type { AddressRange } from '../outbound/library.ts';
import type { Read, Restricted, Visible, Where } from '../query/contract.ts';
import type { Collection, Overview } from '../schema/contract.ts';

/** The nil id: the Public role's row. */
export const PUBLIC_ROLE = '00000000-0000-0000-0000-000000000000';

/** What a permission allows: one row of permissions is for one action on one collection. */
export type Action = 'create' | 'read' | 'update' | 'delete' | 'comment' | 'share';

/** Every action, in the order in which documents list them. */
export const ACTIONS: readonly Action[] = ['create', 'read', 'update', 'delete', 'comment', 'share'];

/** One permission: a stored row, or one of the minimal rows of app access. */
export interface Permission {
  readonly collection: string;
  readonly action: Action;
  /** Row rule: a filter; null = all rows. Not used for create. */
  readonly rule: Record<string, unknown> | null;
  /** Filter that a written row must fulfil; null = none. */
  readonly validation: Record<string, unknown> | null;
  /** Values that a create or update adds where the payload has none; null = none. */
  readonly presets: Record<string, unknown> | null;
  /** `['*']` = all (but see `Field.sensitive`); empty = none. */
  readonly fields: readonly string[];
}

/** A caller's permissions at one moment. */
export interface PermissionSet {
  /** Changes whenever any permission or role does; usable in cache keys together with `key`. */
  readonly version: string;
  /** Callers with the same key have the same permissions (role and flags; not the user). */
  readonly key: string;
  readonly admin: boolean;
  /**
   * The stored row and the minimal row of app access, if any: rows are the OR of the rules, and each field counts on
   * the rows of the rules that list it. Empty = no access.
   */
  of(collection: string, action: Action): readonly Permission[];
}

/** What is known about a role beside its permissions. */
export interface Role {
  readonly id: string;
  readonly admin: boolean;
  readonly app: boolean;
  /** Addresses its users may come from; undefined = any. What cannot be read in the row is no address. */
  readonly addresses: readonly AddressRange[] | undefined;
}

/**
 * Permissions of callers, and the checks of every read and write. Provided by `access`, used by the plugins that read or write rows.
 */
export interface Access {
  /** The permissions of the caller, from memory; all for admins. */
  permissions(caller: Caller): Promise<PermissionSet>;
  /** A role from memory; null asks for the Public role. */
  role(id: string | null): Promise<Role | undefined>;
  /**
   * Writes the caller's read permissions into every node of the tree; fields that may not be read are left out of the answer.
   * @throws FORBIDDEN where the root may not be read, or a condition, an order or an aggregate names a field that may not be read.
   */
  restrict(read: Read, caller: Caller, overview: Overview): Promise<Restricted<Read>>;
  /**
   * Which rows of a collection the caller may update or delete, and (for update) with which fields.
   * @throws FORBIDDEN where there is no permission, or a field is outside its list.
   */
  restrictWrite(
    collection: Collection,
    action: 'update' | 'delete',
    fields: readonly string[],
    caller: Caller,
    overview: Overview,
  ): Promise<Restricted<Where>>;
  /**
   * A filter of the caller's own in a by-query write: checked like a read's, joined with the read rule.
   * @throws FORBIDDEN where the filter names what the caller may not read.
   */
  restrictFilter(collection: Collection, where: Where, caller: Caller, overview: Overview): Promise<Restricted<Where>>;
  /**
   * What a create or update adds and demands: checks the field list, merges presets under the payload, validates it.
   * Answers the payload to write. `given` are values the platform itself sets (the foreign key of a child in a nested write):
   * they count as submitted and need no grant.
   * @throws FORBIDDEN without permission, INVALID_PAYLOAD for an unknown field, Failures of FAILED_VALIDATION.
   */
  admit(
    collection: Collection,
    action: 'create' | 'update',
    payload: Record<string, unknown>,
    caller: Caller,
    overview: Overview,
    given?: Record<string, unknown>,
  ): Promise<Record<string, unknown>>;
  /** Whether the caller may do this to some row at all. */
  may(caller: Caller, action: Action, collection: string): Promise<boolean>;
  /**
   * `may`, as a refusal: before a rule speaks about the payload of a caller who may not write.
   * @throws FORBIDDEN where the caller has no such permission.
   */
  demand(caller: Caller, action: Action, collection: string): Promise<void>;
  /** Which fields a query of a caller with these permissions may name. */
  visible(permissions: PermissionSet): Visible;
  /**
   * The fields that permissions list for an action: `always`, or on `some` of the rows it may touch only. Empty where there is
   * no permission. For descriptions of the service that are made for callers with these permissions.
   */
  listed(permissions: PermissionSet, action: Action, collection: Collection): ReadonlyMap<string, 'always' | 'some'>;
  /** The fields the caller may read of a collection: for schema routes. */
  readableFields(collection: Collection, caller: Caller): Promise<ReadonlySet<string>>;
}

/** What a concealed value reads as, and what a client therefore may send back. */
export { MASK } from '../query/contract.ts';
/** The rows every caller with app access has without their being stored. */
export { APP_MINIMUM } from './permissions/app-minimum.ts';

/** Every plugin that reads or writes rows for a caller uses it. */
export const access = service<Access>('access', {
  version: '1.0.0',
  callers: {
    permissions: 0,
    restrict: 1,
    restrictWrite: 3,
    restrictFilter: 2,
    admit: 3,
    may: 0,
    demand: 0,
    readableFields: 1,
  },
});
