import { type Caller, service } from '#kernel';
import type { Read, Restricted, Visible, Where } from '../query/contract.ts';
import type { Collection, Overview } from '../schema/contract.ts';

/** The nil id: the Public role's row. */
export const PUBLIC_ROLE = '00000000-0000-0000-0000-000000000000';

export type Action = 'create' | 'read' | 'update' | 'delete' | 'comment' | 'share';
export const ACTIONS: readonly Action[] = ['create', 'read', 'update', 'delete', 'comment', 'share'];

/** One permission: a stored row, or one of the minimal rows of app access. */
export interface Permission {
  readonly collection: string;
  readonly action: Action;
  /** Row rule: a filter; null = all rows. Not used for create. */
  readonly rule: Record<string, unknown> | null;
  readonly validation: Record<string, unknown> | null;
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
  /** Addresses its users may come from; empty = any. */
  readonly addresses: readonly string[];
}

export interface Access {
  permissions(caller: Caller): Promise<PermissionSet>;
  /** A role from memory; null asks for the Public role. */
  role(id: string | null): Promise<Role | undefined>;
  /** Writes the caller's read permissions into every node of the tree. FORBIDDEN where the root may not be read. */
  restrict(read: Read, caller: Caller, overview: Overview): Promise<Restricted<Read>>;
  /**
   * Which rows of a collection the caller may update or delete, and (for update) which of the fields to be written:
   * FORBIDDEN where there is no permission or a field is outside its list.
   */
  restrictWrite(
    collection: Collection,
    action: 'update' | 'delete',
    fields: readonly string[],
    caller: Caller,
    overview: Overview,
  ): Promise<Restricted<Where>>;
  /** A filter of the caller's own in a by-query write: checked like a read's, joined with the read rule. */
  restrictFilter(collection: Collection, where: Where, caller: Caller, overview: Overview): Promise<Restricted<Where>>;
  /**
   * What a create or update adds and demands: checks the field list, merges presets under the payload, validates it.
   * Throws FORBIDDEN or Failures of FAILED_VALIDATION. Answers the payload to write. `given` are values the platform
   * itself sets (a child's foreign key in a nested write): they count as submitted and need no grant.
   */
  admit(
    collection: Collection,
    action: 'create' | 'update',
    payload: Record<string, unknown>,
    caller: Caller,
    overview: Overview,
    given?: Record<string, unknown>,
  ): Promise<Record<string, unknown>>;
  /** May the caller do this to some row at all? */
  may(caller: Caller, action: Action, collection: string): Promise<boolean>;
  /** FORBIDDEN where not. For rules about payloads: what is wrong with a write is no business of those who may not write. */
  demand(caller: Caller, action: Action, collection: string): Promise<void>;
  /** What a query of a caller with these permissions may speak of. */
  visible(permissions: PermissionSet): Visible;
  /**
   * The fields that permissions list for an action: `always`, or on `some` of the rows it may touch only. Empty where
   * there is no permission. For whoever makes a description of the service for callers with these permissions.
   */
  listed(permissions: PermissionSet, action: Action, collection: Collection): ReadonlyMap<string, 'always' | 'some'>;
  /** The fields the caller may read of a collection: for schema routes. */
  readableFields(collection: Collection, caller: Caller): Promise<ReadonlySet<string>>;
}

/** What a concealed value reads as, and what a client therefore may send back. */
export { MASK } from '../query/contract.ts';
/** The rows every caller with app access has without their being stored. */
export { APP_MINIMUM } from './permissions/app-minimum.ts';
export { keeps } from './validation/breaches.ts';

export const access = service<Access>('access', { version: '1.0.0' });
