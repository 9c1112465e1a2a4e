/** Types of the reference and the cases: a model, rows, permissions, requests. */

export type Row = Readonly<Record<string, unknown>>;
export type Rows = Readonly<Record<string, readonly Row[]>>;
export type Filter = Readonly<Record<string, unknown>>;
export type Payload = Readonly<Record<string, unknown>>;

export interface ToManyField {
  readonly to: string;
  readonly by: string;
  /** What a write does with rows that it leaves out of a list. Default: `by` is set to null, unless it is part of the key. */
  readonly deselectAction?: 'delete';
}

export interface Model {
  /**
   * The columns of the key, plain fields by type, many-to-one fields and to-many aliases of each collection. Columns of a composite key
   * are many-to-one fields.
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

/** Requested fields: names, `count(alias)`, `year(moment)`, `item:collection`, and nested fields of relations. */
export interface FieldTree {
  readonly [field: string]: true | FieldTree;
}

/** The parameters of a list, at the root or behind a relation. */
export interface ListParameters {
  readonly filter?: Filter;
  readonly sort?: readonly string[];
  readonly search?: string;
  readonly limit?: number;
  readonly offset?: number;
  readonly aggregate?: Readonly<Record<string, readonly string[]>>;
  readonly groupBy?: readonly string[];
  /** Parameters of relations, by field. */
  readonly deep?: Readonly<Record<string, ListParameters>>;
}

export interface ListRequest extends Omit<ListParameters, 'sort'> {
  readonly fields: FieldTree;
  readonly sort?: string | readonly string[];
  /** Only the rows of these keys, in this order. */
  readonly keys?: readonly unknown[];
}

/** The service must answer FORBIDDEN, or FAILED_VALIDATION for a violated validation. */
export class Refused extends Error {}
