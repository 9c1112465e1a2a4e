/**
 * Field types of the API (conventions, "Field types"). A field of type `unknown` is read and written as PostgreSQL's
 * text.
 */
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

/** The type of array elements or range bounds. `type` and `dataType` are those of the base type of a domain. */
export interface ElementType {
  readonly type: FieldType;
  /** As in `Column.sqlType`. */
  readonly sqlType: string;
  /** As in `Column.dataType`. */
  readonly dataType: string;
}

/** A column of a table or view, from the catalog of PostgreSQL. */
export interface Column {
  readonly name: string;
  /** PostgreSQL's type as it stands in casts, e.g. `integer`, `text[]`, `"public"."mood"`. */
  readonly sqlType: string;
  /** Base type name as in `information_schema`: `character varying`, `timestamp with time zone`, … */
  readonly dataType: string;
  readonly nullable: boolean;
  /** The column whose value reads show where this one is null; absent for most. */
  readonly whenNull?: string;
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
  /** Whether an index, unique or not, begins with this column, so that a lookup need not scan the table. */
  readonly leadsIndex: boolean;
  readonly primary: boolean;
  /** A PostgreSQL array; read and written as a JSON array. */
  readonly array: boolean;
  /** Elements of an array, bounds of a range or a multirange; absent for other types. */
  readonly element?: ElementType;
  /** The values of an enum, or of the elements of an array of an enum. */
  readonly enumValues: readonly string[] | null;
  readonly comment: string | null;
}

/** The registry row of a field, with the names of the API. A system field gets it from its declaration. */
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
  /** The column of the field; null for aliases. */
  readonly column: Column | null;
  readonly special: readonly string[];
  readonly meta: FieldMeta | null;
  /** Reads as `**********` or null, for admins too (special `conceal`, type `hash`). */
  readonly concealed: boolean;
  /** Left out of `*`: has to be listed by name in a permission's field list. */
  readonly sensitive: boolean;
  /** The relation of this field; null without one. */
  readonly relation: RelationEnd | null;
  /**
   * The fields of a composite key or a composite foreign key, in the order of the key (ADR 44). Such a field has no
   * column; it reads as the text of the key.
   */
  readonly parts?: readonly Field[];
}

/** A relation as seen from one of its fields. */
export type RelationEnd =
  /** This field is a foreign key; `to` is the related collection. */
  | { readonly kind: 'one'; readonly relation: Relation; readonly to: string }
  /** This alias lists rows of `to` whose field `relation.field` holds this row's key. */
  | { readonly kind: 'many'; readonly relation: Relation; readonly to: string }
  /**
   * Many-to-any: this field holds a key of one of `allowedCollections`; the field `collectionField` names which one.
   */
  | {
      readonly kind: 'any';
      readonly relation: Relation;
      readonly collectionField: string;
      readonly allowedCollections: readonly string[];
    };

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
  /** The related collection; null for many-to-any. */
  readonly related: string | null;
  readonly meta: RelationMeta | null;
  readonly schema: {
    readonly constraint_name: string;
    readonly table: string;
    readonly column: string;
    readonly foreign_key_schema: string;
    readonly foreign_key_table: string;
    readonly foreign_key_column: string;
    /** The columns of a composite foreign key, in the order of the referenced key. */
    readonly columns?: readonly string[];
    readonly foreign_key_columns?: readonly string[];
    readonly on_update: string;
    readonly on_delete: string;
  } | null;
  /** The constraint is `not valid`: older rows may refer to missing rows. */
  readonly notValidated?: true;
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
  /** The table or view of the collection; null for folders. */
  readonly table: { readonly schema: string; readonly name: string; readonly comment: string | null } | null;
  readonly kind: 'table' | 'view' | 'folder';
  /** Triggers, rules or partitions: a write may change more than its statement names. */
  readonly hasSideEffects: boolean;
  readonly system: boolean;
  readonly meta: CollectionMeta | null;
  /** The name of a key of one column; null for a composite key and without a key. */
  readonly primary: string | null;
  /**
   * The field that identifies rows: the key column, or a field with `parts`, which is not in `fields`. In a table
   * without a key it is the row location (`ctid`), which is valid in one transaction only and never part of an answer.
   * Null for views and folders.
   */
  readonly key: Field | null;
  /** Whether requests can name a row: true with a primary key, or a unique index over columns that are not null. */
  readonly hasKey: boolean;
  /** Composite foreign keys; `fields` holds them too. */
  readonly compositeForeignKeys: readonly Field[];
  readonly fields: ReadonlyMap<string, Field>;
  readonly singleton: boolean;
  readonly sortField: string | null;
  /** What requests may do with rows of a system collection: see `SystemCollection.verbs`. Absent: all. */
  readonly verbs?: readonly ItemVerb[];
}

/** What requests may do with the rows of a collection. */
export type ItemVerb = 'read' | 'create' | 'update' | 'delete';

/** The schema snapshot: collections, fields and relations at one moment. Immutable; a change creates a new one. */
export interface SchemaOverview {
  /** Changes whenever a member below changes; usable in cache keys. Equal in all processes. */
  readonly version: string;
  readonly collections: ReadonlyMap<string, Collection>;
  readonly relations: readonly Relation[];
  /**
   * System tables that admins see in /collections and /fields, and whose rows no request reads or writes (sessions,
   * migrations).
   */
  readonly listedTables: ReadonlyMap<string, Collection>;
}
