/** A value as JSON has it. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** A collection in a snapshot: its registry row without id as `meta`, its table as `schema`. Null where there is none. */
export interface CollectionEntry {
  readonly collection: string;
  readonly meta: JsonObject | null;
  /** `name`; also `comment` where there is one, and `primary_key` for a key of several columns, in its order. */
  readonly schema: JsonObject | null;
}

/** A field in a snapshot: its registry row without id as `meta`, its column as `schema`. */
export interface FieldEntry {
  readonly collection: string;
  readonly field: string;
  readonly type: string;
  readonly meta: JsonObject | null;
  /**
   * The column as in `/fields`, also `comment`, `enum_values` and `default_is_expression` where there are any. The default of a column
   * that increments by itself is null, since it names a sequence of one database.
   */
  readonly schema: JsonObject | null;
}

/** A relation in a snapshot: its registry row without id as `meta`, its foreign key as `schema`. */
export interface RelationEntry {
  readonly collection: string;
  readonly field: string;
  readonly related_collection: string | null;
  readonly meta: JsonObject | null;
  readonly schema: JsonObject | null;
}

/** An index on a field of a system collection. */
export interface SystemFieldEntry {
  readonly collection: string;
  readonly field: string;
  readonly schema: { readonly is_indexed: boolean };
}

/** Parts of a snapshot beside the schema, by choice. */
export const SNAPSHOT_PARTS = ['roles', 'permissions', 'flows', 'dashboards', 'settings'] as const;

/** One of `SNAPSHOT_PARTS`. */
export type SnapshotPartName = (typeof SNAPSHOT_PARTS)[number];

/** Records of parts, by part. */
export type SnapshotParts = Partial<Readonly<Record<SnapshotPartName, readonly JsonObject[]>>>;

/**
 * A snapshot of the schema (conventions, "Snapshot"): collections by name, fields by collection and name, relations by collection and
 * field. Users, items and secrets are never part of it.
 */
export interface SchemaSnapshotDocument extends SnapshotParts {
  /** 1 for the whole schema, 2 for some collections. */
  readonly version: 1 | 2;
  /** The version of the service that wrote it. */
  readonly tenon: string;
  readonly vendor: 'postgres';
  readonly collections: readonly CollectionEntry[];
  readonly fields: readonly FieldEntry[];
  readonly systemFields: readonly SystemFieldEntry[];
  readonly relations: readonly RelationEntry[];
}

/** One difference between two values: N new, D deleted, E edited, A an element of a list that one of them does not have. */
export interface Difference {
  readonly kind: 'N' | 'D' | 'E' | 'A';
  /** Absent for the whole value. */
  readonly path?: readonly (string | number)[];
  readonly lhs?: unknown;
  readonly rhs?: unknown;
  /** Position of the element; with `A` only. */
  readonly index?: number;
  /** The difference of the element; with `A` only. */
  readonly item?: Difference;
}

/** Differences of one collection, field or relation. */
export interface EntryDiff {
  readonly collection: string;
  readonly field?: string;
  readonly related_collection?: string | null;
  readonly diff: readonly Difference[];
}

/** Differences of one record of a part, by what identifies it in every database. */
export interface PartEntryDiff {
  readonly id: string;
  readonly diff: readonly Difference[];
}

/** What has to change for the database to become as in a snapshot. Lists of parts are there where the snapshot has the part. */
export interface SnapshotDiff extends Partial<Readonly<Record<SnapshotPartName, readonly PartEntryDiff[]>>> {
  readonly collections: readonly EntryDiff[];
  readonly fields: readonly EntryDiff[];
  readonly systemFields: readonly EntryDiff[];
  readonly relations: readonly EntryDiff[];
}

/** A field that gets another name and keeps its data. */
export interface FieldRename {
  readonly collection: string;
  readonly from: string;
  readonly to: string;
}

/** What `POST /schema/diff` answers and `POST /schema/apply` takes: differences to the database whose state has this hash. */
export interface HashedDiff {
  readonly hash: string;
  readonly diff: SnapshotDiff;
  /** Renames that come before all other changes. */
  readonly renames?: readonly FieldRename[];
}
