/** What the reference evaluator and the cases speak of: a small schema, rows, permissions, questions. */

export type Row = Readonly<Record<string, unknown>>;
export type Rows = Readonly<Record<string, readonly Row[]>>;
export type Filter = Readonly<Record<string, unknown>>;
export type Payload = Readonly<Record<string, unknown>>;

export interface ToManyField {
  readonly to: string;
  readonly by: string;
  /** What becomes of rows that are left out of a list; absent: `by` is set to null, where it is not part of their key. */
  readonly deselectAction?: 'delete';
}

export interface Model {
  /**
   * Of each collection the columns of its key, plain fields by type, many-to-one fields and to-many aliases. Columns of a key
   * of several are among the many-to-one fields.
   */
  readonly [collection: string]: {
    readonly key: readonly string[];
    readonly keyType?: 'number' | 'uuid';
    readonly plain: Readonly<Record<string, 'text' | 'number' | 'uuid' | 'moment' | 'masked'>>;
    readonly manyToOne: Readonly<Record<string, string>>;
    readonly toMany: Readonly<Record<string, ToManyField>>;
    /** Many-to-any fields: `by` names the collection of each row's target. */
    readonly manyToAny?: Readonly<Record<string, { readonly by: string; readonly to: readonly string[] }>>;
    /** Many-to-one fields whose rows go with the row they lead to; the others become null. */
    readonly cascades?: readonly string[];
    /** Never part of `*` in a permission's list. */
    readonly sensitive?: readonly string[];
  };
}

export interface PermissionRow {
  readonly rule: Filter | null;
  readonly fields: readonly string[];
  readonly presets?: Row | null;
  readonly validation?: Filter | null;
}

export interface CallerPermissions {
  readonly admin: boolean;
  readonly user: string | null;
  readonly role: string | null;
  /** By `collection action`. */
  readonly permissions: ReadonlyMap<string, readonly PermissionRow[]>;
}

/** Asked fields: names, `count(alias)`, `year(moment)`, `item:collection`, and what lies behind relations. */
export interface FieldTree {
  readonly [field: string]: true | FieldTree;
}

/** What a list may be asked, at the root or behind a relation. */
export interface ListParameters {
  readonly filter?: Filter;
  readonly sort?: readonly string[];
  readonly search?: string;
  readonly limit?: number;
  readonly offset?: number;
  readonly aggregate?: Readonly<Record<string, readonly string[]>>;
  readonly groupBy?: readonly string[];
  /** Terms of the relations below, by field. */
  readonly deep?: Readonly<Record<string, ListParameters>>;
}

export interface ListRequest extends Omit<ListParameters, 'sort'> {
  readonly fields: FieldTree;
  readonly sort?: string | readonly string[];
  /** Exactly these rows, in this order. */
  readonly keys?: readonly unknown[];
}

/** Has to be answered with FORBIDDEN, or where a validation is broken with FAILED_VALIDATION. */
export class Refused extends Error {}
