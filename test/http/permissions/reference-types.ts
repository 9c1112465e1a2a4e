/** Types of the permission tests: the model, rows, permissions and requests. */

export type PermissionTestRow = Readonly<Record<string, unknown>>;
export type PermissionTestRowsByCollection = Readonly<Record<string, readonly PermissionTestRow[]>>;
export type PermissionTestFilter = Readonly<Record<string, unknown>>;
export type PermissionTestPayload = Readonly<Record<string, unknown>>;

export interface ToManyField {
  readonly to: string;
  readonly by: string;
  /** What a write does with related rows that a list omits. Default: set `by` to null, or delete the row if `by` is in its key. */
  readonly deselectAction?: 'delete';
}

export interface PermissionTestModel {
  /**
   * The fields of each collection: key columns, plain fields with their types, many-to-one fields and to-many aliases. Columns
   * of a composite key are many-to-one fields.
   */
  readonly [collection: string]: {
    readonly key: readonly string[];
    readonly keyType?: 'number' | 'uuid';
    readonly plain: Readonly<Record<string, 'text' | 'number' | 'uuid' | 'moment' | 'masked'>>;
    readonly manyToOne: Readonly<Record<string, string>>;
    readonly toMany: Readonly<Record<string, ToManyField>>;
    /** Many-to-any fields: `by` names the collection of each row's target. */
    readonly manyToAny?: Readonly<Record<string, { readonly by: string; readonly to: readonly string[] }>>;
    /** Many-to-one fields with "on delete cascade"; the others have "on delete set null". */
    readonly cascades?: readonly string[];
    /** Fields that `*` in the field list of a permission does not include. */
    readonly sensitive?: readonly string[];
  };
}

export interface PermissionRow {
  readonly rule: PermissionTestFilter | null;
  readonly fields: readonly string[];
  readonly presets?: PermissionTestRow | null;
  readonly validation?: PermissionTestFilter | null;
}

export interface CallerPermissions {
  readonly admin: boolean;
  readonly user: string | null;
  readonly role: string | null;
  /** The permissions by collection and action, such as "task read". */
  readonly permissions: ReadonlyMap<string, readonly PermissionRow[]>;
  /** With a share: whether the row is reachable from the shared item. Rules of permissions evaluate other rows as well. */
  readonly isReachable?: (collection: string, row: PermissionTestRow) => boolean;
}

/** Requested fields: names, `count(alias)`, `year(moment)`, `item:collection`, and nested fields of relations. */
export interface FieldTree {
  readonly [field: string]: true | FieldTree;
}

/** The parameters of a list, at the root or behind a relation. */
export interface ListParameters {
  readonly filter?: PermissionTestFilter;
  readonly sort?: readonly string[];
  readonly search?: string;
  readonly limit?: number;
  readonly offset?: number;
  readonly aggregate?: Readonly<Record<string, readonly string[]>>;
  readonly groupBy?: readonly string[];
  /** The parameters of the lists behind relations, by field. */
  readonly deep?: Readonly<Record<string, ListParameters>>;
}

export interface ListRequest extends Omit<ListParameters, 'sort'> {
  readonly fields: FieldTree;
  readonly sort?: string | readonly string[];
  /** Reads only the rows with these keys, in this order. */
  readonly keys?: readonly unknown[];
}

/** The in-memory reference throws this where the service must refuse a request with FORBIDDEN or FAILED_VALIDATION. */
export class ReferenceRefusalError extends Error {}
