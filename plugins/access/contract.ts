import { type Caller, service } from '#kernel';
import type { AddressRange } from '../outbound/library.ts';
import type { FieldVisibility, Read, Restricted, Where } from '../query/contract.ts';
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
  /** The rows of app access; empty without it. */
  readonly minimum: readonly Permission[];
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

/** Fields that are granted (`*`: all but the sensitive ones), and values that are added where a payload has none. */
export interface Grant {
  readonly fields?: readonly string[];
  readonly presets?: Readonly<Record<string, unknown>>;
}

/** What a caller may do in a collection by one action: in no row, in those of a rule, in all. */
export interface EffectiveAction extends Grant {
  readonly access: 'none' | 'partial' | 'full';
}

/** Of each action that is asked for. */
export type CollectionPermissions = Readonly<
  Record<'create' | 'read' | 'update' | 'delete' | 'share', EffectiveAction>
>;

/** A permission with its row rule as a condition. */
export interface RowPermission {
  readonly action: Action;
  readonly permission: Permission;
  readonly where: Restricted<Where>;
}

/** One write of users or roles. */
export interface AuthorityWrite {
  /** The rows that are changed or deleted; none for a row that is created. */
  readonly keys: readonly unknown[];
  /** What they are given, by field; a role by its key. Empty for a delete. */
  readonly values: Readonly<Record<string, unknown>>;
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
  restrict(read: Read, caller: Caller, schema: Overview): Promise<Restricted<Read>>;
  /**
   * Which rows of a collection the caller may update or delete, and (for update) with which fields.
   * @throws FORBIDDEN where there is no permission, or a field is outside its list.
   */
  restrictWrite(
    collection: Collection,
    action: 'update' | 'delete',
    fields: readonly string[],
    caller: Caller,
    schema: Overview,
  ): Promise<Restricted<Where>>;
  /**
   * Each permission of these actions by itself, for a look at which of them hold for a row. One whose rule cannot be read is left
   * out: it holds for none.
   */
  rowPermissions(
    collection: Collection,
    actions: readonly Action[],
    caller: Caller,
    schema: Overview,
  ): Promise<readonly RowPermission[]>;
  /**
   * A filter of the caller's own in a by-query write: checked like a read's, joined with the read rule.
   * @throws FORBIDDEN where the filter names what the caller may not read.
   */
  restrictFilter(collection: Collection, where: Where, caller: Caller, schema: Overview): Promise<Restricted<Where>>;
  /**
   * What a create or update adds and demands: checks the field list, merges presets under the payload, validates it.
   * Answers the payload to write. `given` are values the platform itself sets (the foreign key of a child in a nested write):
   * they count as submitted and need no grant. With `values` of their own, rows of one batch look up what their rules name once.
   * @throws FORBIDDEN without permission, INVALID_PAYLOAD for an unknown field (left out where `ITEMS_UNKNOWN_FIELDS` is `ignore`),
   *   Failures of FAILED_VALIDATION.
   */
  admit(
    collection: Collection,
    action: 'create' | 'update',
    payload: Record<string, unknown>,
    caller: Caller,
    schema: Overview,
    given?: Record<string, unknown>,
    values?: RuleValues,
  ): Promise<Record<string, unknown>>;
  /**
   * Whatever permissions say, only admins assign a role with `admin_access`, give that flag to a role, delete an admin or such a
   * role, or change the fields on which their authority rests (docs/adr/0028). Asked of each write with the values to be stored.
   * @throws FORBIDDEN
   */
  assertAuthority(
    caller: Caller,
    collection: string,
    action: 'create' | 'update' | 'delete',
    writes: readonly AuthorityWrite[],
  ): Promise<void>;
  /** Whether the caller may do this to some row at all. */
  may(caller: Caller, action: Action, collection: string): Promise<boolean>;
  /**
   * `may`, as a refusal: before a rule speaks about the payload of a caller who may not write.
   * @throws FORBIDDEN where the caller has no such permission.
   */
  demand(caller: Caller, action: Action, collection: string): Promise<void>;
  /** What the caller may do, by collection; those in which he may do nothing are left out. All of it for admins. */
  effective(caller: Caller): Promise<Readonly<Record<string, CollectionPermissions>>>;
  /** Which fields a query of a caller with these permissions may name. */
  visible(permissions: PermissionSet): FieldVisibility;
  /**
   * The fields that permissions list for an action: `always`, or on `some` of the rows it may touch only. Empty where there is
   * no permission. For descriptions of the service that are made for callers with these permissions.
   */
  listed(permissions: PermissionSet, action: Action, collection: Collection): ReadonlyMap<string, 'always' | 'some'>;
  /** The fields the caller may read of a collection: for schema routes. */
  readableFields(collection: Collection, caller: Caller): Promise<ReadonlySet<string>>;
}

/** What `$CURRENT_USER.a.b` and the like stand for, by their texts, as long as one caller writes one batch. */
export type RuleValues = Map<string, Promise<unknown>>;

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
    rowPermissions: 2,
    restrictFilter: 2,
    admit: 3,
    assertAuthority: 0,
    may: 0,
    effective: 0,
    demand: 0,
    readableFields: 1,
  },
});
