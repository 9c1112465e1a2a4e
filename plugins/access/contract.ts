import { authorities, type Caller, facet, service } from '#kernel';
import type { AddressRange } from '../outbound/library.ts';
import type { ConditionTree, FieldVisibility, PermissionRestricted, ReadNode } from '../query/contract.ts';
import type { Collection, SchemaOverview } from '../schema/contract.ts';

/** The id of the Public role: the nil UUID. */
export const PUBLIC_ROLE_ID = '00000000-0000-0000-0000-000000000000';

/** The action of a permission (specification, "Permissions"). Each stored permission is for one action on one collection. */
export type PermissionAction = 'create' | 'read' | 'update' | 'delete' | 'comment' | 'share';

/** Every action, in the order of the specification. */
export const PERMISSION_ACTIONS: readonly PermissionAction[] = [
  'create',
  'read',
  'update',
  'delete',
  'comment',
  'share',
];

/** The bus channel on which changes of roles and permissions are announced, with null. */
export const PERMISSIONS_CHANGED_CHANNEL = 'access.changed';

/** One permission: a stored one, or one of the fixed permissions of app access. */
export interface Permission {
  readonly collection: string;
  readonly action: PermissionAction;
  /** Row rule: a filter on the rows; null is all rows. Not used for `create`. */
  readonly rule: Record<string, unknown> | null;
  /** A filter that a written row must match; null is none. */
  readonly validation: Record<string, unknown> | null;
  /** Values that a create or update adds for fields without a value; null is none. */
  readonly presets: Record<string, unknown> | null;
  /** Names of fields; `['*']` is all but the sensitive ones (`Field.sensitive`), an empty list is none. */
  readonly fields: readonly string[];
}

/** The permissions of a caller at one moment; immutable. */
export interface PermissionSet {
  /** Changes when any permission or role changes; together with `key` usable as a cache key. */
  readonly version: string;
  /** Equal for callers with equal permissions: the role and its flags, not the user. */
  readonly key: string;
  /** Equal for callers who may read the same fields, on whatever rows: for schemas by permissions. Default: `key`. */
  readonly fieldsKey?: string;
  /**
   * Hash of all permissions: equal for equal permissions, in all processes. With the schema version, the user and the role it says
   * all that an answer depends on beside its request and the rows.
   */
  readonly digest: string;
  /** Admins have all permissions. */
  readonly admin: boolean;
  /** The permissions that app access gives beside the stored ones; empty without app access. */
  readonly minimum: readonly Permission[];
  /**
   * The stored permission and the one of app access, as far as they exist. The caller may touch rows that match one of the rules, and
   * each field on the rows of the permissions that list it. An empty list is no access.
   */
  of(collection: string, action: PermissionAction): readonly Permission[];
  /**
   * With a share only: the condition on the rows that may be read, by collection, in place of the row rules. It contains the row rules
   * of the share's role. A collection that is missing has no such row.
   */
  reachable?(schema: SchemaOverview): ReadonlyMap<string, ConditionTree>;
}

/** An item that is shared by a link, while the share is in force. */
export interface SharedItem {
  /** Key of the share. */
  readonly id: string;
  /** The role whose permissions visitors have; null is the Public role. */
  readonly role: string | null;
  readonly collection: string;
  /** The key of the item as text. */
  readonly item: string;
}

/** Finds the item of a share. Contributed by the plugin that keeps shares. */
export interface SharedItemLookup {
  /** Undefined for a share that does not exist, has not begun, or is over. */
  find(share: string): Promise<SharedItem | undefined>;
}

/** The lookup of shares. Without it callers of shares have no permission. */
export const sharedItemLookups = facet<SharedItemLookup, SharedItemLookup | undefined>('access.shares', {
  combine: (all) => all[0]?.value,
  coreOnly: true,
  describe: () => authorities('contributes to', ['the permissions of shares']),
});

/** A role without its permissions. */
export interface Role {
  readonly id: string;
  readonly admin: boolean;
  readonly app: boolean;
  /** IP ranges that users of the role may connect from; undefined is any. Malformed entries match no address. */
  readonly addresses: readonly AddressRange[] | undefined;
}

/** Permitted fields (`*` is all but the sensitive ones), and presets that are added to a payload. */
export interface FieldsAndPresets {
  readonly fields?: readonly string[];
  readonly presets?: Readonly<Record<string, unknown>>;
}

/** The access of a caller to a collection by one action: to no row, to rows of a rule, or to all rows. */
export interface CollectionActionAccess extends FieldsAndPresets {
  readonly access: 'none' | 'partial' | 'full';
}

/** The access to one collection, by action. */
export type CollectionPermissions = Readonly<
  Record<'create' | 'read' | 'update' | 'delete' | 'share', CollectionActionAccess>
>;

/** A permission with its parsed row rule. */
export interface PermissionWithParsedRule {
  readonly action: PermissionAction;
  readonly permission: Permission;
  readonly where: PermissionRestricted<ConditionTree>;
}

/** One write of users or roles, for `assertAuthority`. */
export interface UserOrRoleWrite {
  /** Keys of the rows that are changed or deleted; empty for a create. */
  readonly keys: readonly unknown[];
  /** The stored values by field, a role by its key; empty for a delete. */
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * Permissions of callers, and the checks of every read and write (specification, "Permissions"). Provided by `access`.
 */
export interface AccessControl {
  /** The permissions of the caller, from the cache; all for admins. */
  permissions(caller: Caller): Promise<PermissionSet>;
  /** A role from the cache; null is the Public role. */
  role(id: string | null): Promise<Role | undefined>;
  /** The item of a share that is in force; undefined for any other. */
  sharedItem(share: string): Promise<SharedItem | undefined>;
  /**
   * Adds the caller's row rules to every node of the tree and removes unreadable fields from the answer.
   * @throws FORBIDDEN for an unreadable root collection, and for an unreadable field in a condition, an order or an aggregate.
   */
  restrict(read: ReadNode, caller: Caller, schema: SchemaOverview): Promise<PermissionRestricted<ReadNode>>;
  /**
   * The condition on rows that the caller may delete, or update in these fields.
   * @throws FORBIDDEN without a permission, and for a field that no permission lists.
   */
  restrictWrite(
    collection: Collection,
    action: 'update' | 'delete',
    fields: readonly string[],
    caller: Caller,
    schema: SchemaOverview,
  ): Promise<PermissionRestricted<ConditionTree>>;
  /**
   * Each permission of these actions with its own condition, to find out which of them apply to a row. A permission with a malformed
   * rule is left out, since it applies to no row.
   */
  rowPermissions(
    collection: Collection,
    actions: readonly PermissionAction[],
    caller: Caller,
    schema: SchemaOverview,
  ): Promise<readonly PermissionWithParsedRule[]>;
  /**
   * Restricts the filter of a by-query write like that of a read, and adds the row rule for reads.
   * @throws FORBIDDEN for a filter on what the caller may not read.
   */
  restrictFilter(
    collection: Collection,
    where: ConditionTree,
    caller: Caller,
    schema: SchemaOverview,
  ): Promise<PermissionRestricted<ConditionTree>>;
  /**
   * Checks the payload of a create or update against the field list, adds presets, validates it, and answers the payload to write.
   * `platformValues` are set by the service itself, such as the foreign key of a child in a nested write: they count as submitted and
   * need no permission. `ruleValues` caches dynamic values of rules for the rows of one batch.
   * @throws FORBIDDEN without permission, INVALID_PAYLOAD for an unknown field (left out where `ITEMS_UNKNOWN_FIELDS` is `ignore`),
   *   Failures of FAILED_VALIDATION.
   */
  validatePayload(
    collection: Collection,
    action: 'create' | 'update',
    payload: Record<string, unknown>,
    caller: Caller,
    schema: SchemaOverview,
    platformValues?: Record<string, unknown>,
    ruleValues?: DynamicValueCache,
  ): Promise<Record<string, unknown>>;
  /**
   * Regardless of permissions, only admins assign a role with `admin_access`, give that flag to a role, delete an admin or such a
   * role, or change the fields on which their authority rests (docs/adr/0028). Called before every write with the values to store.
   * @throws FORBIDDEN for a write that changes the authority of an admin.
   */
  assertAuthority(
    caller: Caller,
    collection: string,
    action: 'create' | 'update' | 'delete',
    writes: readonly UserOrRoleWrite[],
  ): Promise<void>;
  /** Whether the caller has any permission for this action on the collection. */
  isAllowed(caller: Caller, action: PermissionAction, collection: string): Promise<boolean>;
  /**
   * Asserts `isAllowed`, so that a caller without the permission gets no error about the payload.
   * @throws FORBIDDEN without such a permission.
   */
  assertAllowed(caller: Caller, action: PermissionAction, collection: string): Promise<void>;
  /** The caller's access by collection, without collections that the caller has no access to. Full access for admins. */
  effectivePermissions(caller: Caller): Promise<Readonly<Record<string, CollectionPermissions>>>;
  /** The fields that a query with these permissions may name. */
  fieldVisibility(permissions: PermissionSet): FieldVisibility;
  /**
   * The fields that permissions list for an action: on all permitted rows (`always`) or only on `some`. Empty without a permission.
   * Used for schemas (GraphQL, OpenAPI) by permissions.
   */
  permittedFields(
    permissions: PermissionSet,
    action: PermissionAction,
    collection: Collection,
  ): ReadonlyMap<string, 'always' | 'some'>;
  /** Names of the fields that the caller may read, for the routes of the schema. */
  readableFields(collection: Collection, caller: Caller): Promise<ReadonlySet<string>>;
}

/** Values of `$CURRENT_USER.a.b` and the like, by their texts: a cache for one batch of one caller. */
export type DynamicValueCache = Map<string, Promise<unknown>>;

/** The text that answers show instead of a concealed value; clients may send it back unchanged. */
export { CONCEALED_VALUE_MASK } from '../query/contract.ts';
/** The permissions that callers with app access have beside the stored ones. */
export { APP_ACCESS_PERMISSIONS } from './permissions/app-minimum.ts';

/** Used by every plugin that reads or writes rows for a caller. */
export const access = service<AccessControl>('access', {
  version: '1.0.0',
  callers: {
    permissions: 0,
    restrict: 1,
    restrictWrite: 3,
    rowPermissions: 2,
    restrictFilter: 2,
    validatePayload: 3,
    assertAuthority: 0,
    isAllowed: 0,
    effectivePermissions: 0,
    assertAllowed: 0,
    readableFields: 1,
  },
});
