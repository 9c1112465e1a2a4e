import { type Caller, facet, service } from '#kernel';

/** Field types of the API (conventions, "Field types"). `unknown` is read as text and cannot be filtered by value. */
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
export type FieldType = (typeof FIELD_TYPES)[number];

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
  readonly maxLength: number | null;
  readonly precision: number | null;
  readonly scale: number | null;
  readonly unique: boolean;
  readonly indexed: boolean;
  /** Some index, unique or not, begins with it: rows are found by it without reading the table. */
  readonly leadsIndex: boolean;
  readonly primary: boolean;
  /** A PostgreSQL array; read and written as a JSON array. */
  readonly array: boolean;
  readonly enumValues: readonly string[] | null;
  readonly comment: string | null;
}

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

export interface Field {
  readonly collection: string;
  readonly name: string;
  readonly type: FieldType;
  /** Null for aliases. */
  readonly column: Column | null;
  readonly special: readonly string[];
  readonly meta: FieldMeta | null;
  /** Reads as `**********` or null, for everybody (special `conceal`, type `hash`). */
  readonly concealed: boolean;
  /** Left out of `*`: has to be listed by name in a permission's field list. */
  readonly sensitive: boolean;
  /** What this field leads to, if anything. */
  readonly relation: RelationEnd | null;
}

/** A relation as seen from one of its fields. */
export type RelationEnd =
  /** This field is a foreign key; `to` is the related collection. */
  | { readonly kind: 'one'; readonly relation: Relation; readonly to: string }
  /** This alias lists rows of `to` whose field `relation.field` holds this row's key. */
  | { readonly kind: 'many'; readonly relation: Relation; readonly to: string }
  /** This field holds a key of one of several collections, named by `by`. */
  | { readonly kind: 'any'; readonly relation: Relation; readonly by: string; readonly allowed: readonly string[] };

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
    readonly on_update: string;
    readonly on_delete: string;
  } | null;
  /** The constraint is `not valid`: rows that were there before it may lead nowhere. */
  readonly unchecked?: true;
}

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

export interface Collection {
  readonly name: string;
  /** Null for folders (collections without a table). */
  readonly table: { readonly schema: string; readonly name: string; readonly comment: string | null } | null;
  readonly kind: 'table' | 'view' | 'folder';
  /** Triggers, rules or partitions: an update may change more columns than it names. */
  readonly reacts: boolean;
  readonly system: boolean;
  readonly meta: CollectionMeta | null;
  /** The one-column primary key; null for composite keys, views without a key and folders: listed but not served. */
  readonly primary: string | null;
  readonly fields: ReadonlyMap<string, Field>;
  readonly singleton: boolean;
  readonly sortField: string | null;
  /** Of a system collection: see `SystemCollection.verbs`. Absent: all. */
  readonly verbs?: readonly Verb[];
}

export type Verb = 'read' | 'create' | 'update' | 'delete';

/** Everything known about the database at one moment. Immutable; a new one is made when something changes. */
export interface Overview {
  /** Changes whenever anything below changes; usable in cache keys. */
  readonly version: string;
  readonly collections: ReadonlyMap<string, Collection>;
  readonly relations: readonly Relation[];
}

export interface Schema {
  /** The overview to serve a request by: at once from memory where changes are announced, else checked first. */
  overview(): Promise<Overview>;
  /** Reads the database again if anything changed since; for a name that was not found, or an error of the database. */
  refresh(): Promise<Overview>;
  /** Called in every process after the overview changed. */
  onChange(handle: (overview: Overview) => void): void;
}

export const schema = service<Schema>('schema', { version: '1.0.0' });

export interface SystemField {
  readonly field: string;
  readonly type: FieldType;
  readonly primary?: boolean;
  readonly autoIncrement?: boolean;
  /** `not null` unless true. */
  readonly nullable?: boolean;
  /** An SQL expression such as `'active'`, `true`, `now()`. */
  readonly default?: string;
  readonly unique?: boolean;
  /** With `unique`: values that differ in case only count as the same. */
  readonly caseInsensitive?: true;
  readonly maxLength?: number;
  readonly special?: readonly string[];
  readonly sensitive?: boolean;
  readonly hidden?: boolean;
  readonly searchable?: boolean;
  /** A relation to another system collection. */
  readonly references?: SystemReference;
}

/** A foreign key; with `constraint: false` a relation by name only, whose value may outlive the row it leads to. */
export type SystemReference = {
  readonly collection: string;
  readonly alias?: string;
  /** What becomes of a row left out of the alias' list: its key is set to null, unless this says otherwise. */
  readonly deselect?: 'delete';
} & (
  | { readonly onDelete: 'CASCADE' | 'SET NULL' | 'NO ACTION'; readonly constraint?: true }
  /** It is left out of the API where nobody declares its collection, and has no index unless `indexes` names one. */
  | { readonly constraint: false }
);

/**
 * A collection of the service's own, declared as data: its table is made and extended from this, and it is served by the
 * same engine as any other. A to-many alias is declared by `references.alias` on the field that holds the key.
 */
export interface SystemCollection {
  /** Starts with `platform_`. */
  readonly collection: string;
  readonly note: string;
  readonly fields: readonly SystemField[];
  readonly unique?: readonly (readonly string[])[];
  /** Indexes beside those of keys, unique fields and foreign keys: for what rows are looked up by. */
  readonly indexes?: readonly (readonly string[])[];
  readonly singleton?: boolean;
  /** What is recorded when rows are written: activity and revisions (the default), activity only, or nothing. */
  readonly accountability?: CollectionMeta['accountability'];
  /**
   * What the service offers of the usual verbs, whoever asks; absent = all. `[]` for those with routes of their own. What
   * is made from the overview (GraphQL, documents) keeps to it.
   */
  readonly verbs?: readonly Verb[];
  /** Not in the API at all (sessions, migrations). */
  readonly internal?: boolean;
}

export const systemCollections = facet<SystemCollection>('schema.system', {
  manifest: {
    type: 'object',
    additionalProperties: false,
    required: ['collections'],
    properties: { collections: { type: 'array', items: { type: 'string', pattern: '^platform_' } } },
  },
  admit: (one, declared) => declared.collections.includes(one.collection) || `${one.collection} is not declared`,
  describe: (declared) => [`keeps the collections ${[...declared.collections].sort().join(', ')}`],
});

export const SYSTEM_PREFIX = 'platform_';

/**
 * Changes to collections, fields and relations: tables, columns and constraints together with their registry rows, in
 * one unit of work each. For admins only. `input` is what a client sent and is checked here. Every verb answers after
 * the overview of this process has the change; inside an open unit of work it can do so for that unit only.
 *
 * Filter events `collections.*`, `fields.*` and `relations.*` fire inside the unit of work, so that whoever keeps names
 * of what is deleted can clean up in the same transaction; actions follow after commit. Their meta: `collection` and
 * `keys` (names of collections, or of the fields of `collection`).
 */
export interface SchemaWrites {
  /** Several changes that hold together or not at all. */
  unit<T>(work: () => Promise<T>): Promise<T>;
  /** Answers the name. */
  createCollection(caller: Caller, input: unknown): Promise<string>;
  /** Changes `meta` only; `meta: null` forgets the registry row. */
  updateCollection(caller: Caller, collection: string, input: unknown): Promise<void>;
  /** Drops the table and all traces of it, foreign keys of other collections that pointed to it included. */
  deleteCollection(caller: Caller, collection: string): Promise<void>;
  /** Answers the name. */
  createField(caller: Caller, collection: string, input: unknown): Promise<string>;
  updateField(caller: Caller, collection: string, field: string, input: unknown): Promise<void>;
  deleteField(caller: Caller, collection: string, field: string): Promise<void>;
  createRelation(caller: Caller, input: unknown): Promise<{ readonly collection: string; readonly field: string }>;
  updateRelation(caller: Caller, collection: string, field: string, input: unknown): Promise<void>;
  deleteRelation(caller: Caller, collection: string, field: string): Promise<void>;
}

export const schemaWrites = service<SchemaWrites>('schemaWrites', { version: '1.0.0' });

/** What `/collections`, `/fields` and `/relations` show of parts of an overview. */
export {
  type CollectionRecord,
  collectionRecord,
  type FieldRecord,
  fieldRecord,
  type RelationRecord,
  relationRecord,
} from './records.ts';
