/** Field types of the API (conventions, "Field types"). `unknown` is read and written as the text that PostgreSQL prints. */
export const FIELD_TYPES = [
  'bigInteger',
  'boolean',
  'date',
  'dateTime',
  'decimal',
  'float',
  'integer',
  'json',
  'string',
  'text',
  'time',
  'timestamp',
  'binary',
  'uuid',
  'alias',
  'hash',
  'csv',
  'geometry',
  'geometry.Point',
  'geometry.LineString',
  'geometry.Polygon',
  'geometry.MultiPoint',
  'geometry.MultiLineString',
  'geometry.MultiPolygon',
  'unknown',
] as const;

/** One of `FIELD_TYPES`. */
export type FieldType = (typeof FIELD_TYPES)[number];

/** The type of the values inside a value: domains are resolved to their base type in `type` and `dataType`. */
export interface ElementType {
  readonly type: FieldType;
  /** As in `Column.sqlType`. */
  readonly sqlType: string;
  /** As in `Column.dataType`. */
  readonly dataType: string;
}

/** A column of a table or of a view, as the catalog of PostgreSQL has it. */
export interface Column {
  readonly name: string;
  /** PostgreSQL's type as it stands in casts, e.g. `integer`, `text[]`, `"public"."mood"`. */
  readonly sqlType: string;
  /** Base type name as in `information_schema`: `character varying`, `timestamp with time zone`, … */
  readonly dataType: string;
  readonly nullable: boolean;
  readonly default: string | null;
  readonly generated: boolean;
  readonly generationExpression: string | null;
  readonly autoIncrement: boolean;
  /** `generated always as identity`: cannot be written at all. */
  readonly identityAlways: boolean;
  /** Characters; null without a limit. */
  readonly maxLength: number | null;
  /** Digits of a number, or of the fraction of a second; null where the type has none. */
  readonly precision: number | null;
  /** Digits after the decimal point; null where the type has none. */
  readonly scale: number | null;
  readonly unique: boolean;
  readonly indexed: boolean;
  /** Some index, unique or not, begins with it: rows are found by it without reading the table. */
  readonly leadsIndex: boolean;
  readonly primary: boolean;
  /** A PostgreSQL array; read and written as a JSON array. */
  readonly array: boolean;
  /** Elements of an array, bounds of a range or a multirange; absent for other types. */
  readonly element?: ElementType;
  /** Of an array of an enum the values of its elements. */
  readonly enumValues: readonly string[] | null;
  readonly comment: string | null;
}

/** The registry row of a field, with the names of the API; that of a system field is made from its declaration. */
export interface FieldMeta {
  readonly id: number | null;
  readonly collection: string;
  readonly field: string;
  readonly special: readonly string[] | null;
  readonly interface: string | null;
  readonly options: unknown;
  readonly display: string | null;
  readonly display_options: unknown;
  readonly readonly: boolean;
  readonly hidden: boolean;
  readonly required: boolean;
  readonly sort: number | null;
  readonly width: string | null;
  readonly group: string | null;
  readonly translations: unknown;
  readonly note: string | null;
  readonly conditions: unknown;
  readonly validation: Record<string, unknown> | null;
  readonly validation_message: string | null;
  readonly searchable: boolean;
  readonly system?: true;
}

/** A field of a collection: a column, an alias, or both with their registry row. */
export interface Field {
  readonly collection: string;
  readonly name: string;
  readonly type: FieldType;
  /** Null for aliases. */
  readonly column: Column | null;
  readonly special: readonly string[];
  readonly meta: FieldMeta | null;
  /** Reads as `**********` or null, for admins too (special `conceal`, type `hash`). */
  readonly concealed: boolean;
  /** Left out of `*`: has to be listed by name in a permission's field list. */
  readonly sensitive: boolean;
  /** What this field leads to, if anything. */
  readonly relation: RelationEnd | null;
  /**
   * Fields of columns that together are this one's value, in the order of the key: a key or a foreign key of several columns
   * (ADR 44). Such a field has no column of its own; it reads as the text of the key.
   */
  readonly parts?: readonly Field[];
}

/** A relation as seen from one of its fields. */
export type RelationEnd =
  /** This field is a foreign key; `to` is the related collection. */
  | { readonly kind: 'one'; readonly relation: Relation; readonly to: string }
  /** This alias lists rows of `to` whose field `relation.field` holds this row's key. */
  | { readonly kind: 'many'; readonly relation: Relation; readonly to: string }
  /** This field holds a key of one of several collections, named by `by`. */
  | { readonly kind: 'any'; readonly relation: Relation; readonly by: string; readonly allowed: readonly string[] };

/** The registry row of a relation, with the names of the API. */
export interface RelationMeta {
  readonly id: number | null;
  readonly many_collection: string;
  readonly many_field: string;
  readonly one_collection: string | null;
  readonly one_field: string | null;
  readonly one_collection_field: string | null;
  readonly one_allowed_collections: readonly string[] | null;
  readonly junction_field: string | null;
  readonly sort_field: string | null;
  readonly one_deselect_action: 'nullify' | 'delete';
  readonly system?: true;
}

/** `collection.field` is always the many side, the holder of the key. */
export interface Relation {
  readonly collection: string;
  readonly field: string;
  /** Null for many-to-any. */
  readonly related: string | null;
  readonly meta: RelationMeta | null;
  readonly schema: {
    readonly constraint_name: string;
    readonly table: string;
    readonly column: string;
    readonly foreign_key_schema: string;
    readonly foreign_key_table: string;
    readonly foreign_key_column: string;
    /** Of a foreign key of several columns, in the order of the key it leads to. */
    readonly columns?: readonly string[];
    readonly foreign_key_columns?: readonly string[];
    readonly on_update: string;
    readonly on_delete: string;
  } | null;
  /** The constraint is `not valid`: rows that were there before it may lead nowhere. */
  readonly unchecked?: true;
}

/** The registry row of a collection, with the names of the API. */
export interface CollectionMeta {
  readonly collection: string;
  readonly icon: string | null;
  readonly note: string | null;
  readonly color: string | null;
  readonly display_template: string | null;
  readonly hidden: boolean;
  readonly singleton: boolean;
  readonly translations: unknown;
  readonly archive_field: string | null;
  readonly archive_value: string | null;
  readonly unarchive_value: string | null;
  readonly archive_app_filter: boolean;
  readonly sort_field: string | null;
  readonly accountability: 'all' | 'activity' | null;
  readonly item_duplication_fields: unknown;
  readonly sort: number | null;
  readonly group: string | null;
  readonly collapse: string;
  readonly system?: true;
}

/** A table, a view or a folder that the service knows. A folder groups collections and has no rows. */
export interface Collection {
  readonly name: string;
  /** Null for folders (collections without a table). */
  readonly table: { readonly schema: string; readonly name: string; readonly comment: string | null } | null;
  readonly kind: 'table' | 'view' | 'folder';
  /** Triggers, rules or partitions: an update may change more columns than it names. */
  readonly reacts: boolean;
  readonly system: boolean;
  readonly meta: CollectionMeta | null;
  /** The name of a key of one column; null where there are several or none. */
  readonly primary: string | null;
  /**
   * The field that rows are known by: that column, or a field with `parts`, which is not among `fields`. In a table without a key it
   * is the place of the row, which holds within one transaction and is never shown. Null for views and folders.
   */
  readonly key: Field | null;
  /** Whether clients may name a row: true for tables with a primary key or a unique index over columns that are never null. */
  readonly hasKey: boolean;
  /** Foreign keys of several columns, which are among `fields` too. */
  readonly jointFields: readonly Field[];
  readonly fields: ReadonlyMap<string, Field>;
  readonly singleton: boolean;
  readonly sortField: string | null;
  /** Of a system collection: see `SystemCollection.verbs`. Absent: all. */
  readonly verbs?: readonly Verb[];
}

/** What a service can offer of the rows of a collection. */
export type Verb = 'read' | 'create' | 'update' | 'delete';

/** Everything known about the database at one moment. Immutable; a new one is made when something changes. */
export interface Overview {
  /** Changes whenever anything below changes; usable in cache keys. */
  readonly version: string;
  readonly collections: ReadonlyMap<string, Collection>;
  readonly relations: readonly Relation[];
  /** Tables that admins see in lists of collections and fields, and whose rows no request reads or writes (sessions, migrations). */
  readonly listed: ReadonlyMap<string, Collection>;
}
