import type { CollectionMeta, FieldType, ItemVerb } from './schema-overview.ts';

/** A field of a system collection. The migration creates its column from this. */
export interface SystemField {
  readonly field: string;
  readonly type: FieldType;
  readonly primary?: boolean;
  readonly autoIncrement?: boolean;
  /** Whether the column allows null. Default: `not null`. */
  readonly nullable?: boolean;
  /** Another field of the row, whose value reads show where this one is null in the database. */
  readonly whenNull?: string;
  /** An SQL expression such as `'active'`, `true`, `now()`. */
  readonly default?: string;
  readonly unique?: boolean;
  /** With `unique`: values that differ only in case are duplicates. */
  readonly caseInsensitive?: true;
  /** Characters. */
  readonly maxLength?: number;
  readonly special?: readonly string[];
  readonly sensitive?: boolean;
  readonly hidden?: boolean;
  readonly searchable?: boolean;
  /** A relation to another system collection. */
  readonly references?: SystemReference;
}

/**
 * A relation with a foreign key; with `constraint: false` a relation without one, whose value may outlive the row it refers to.
 */
export type SystemReference = {
  readonly collection: string;
  readonly alias?: string;
  /** What happens to a row that a write leaves out of the alias list. Default: its foreign key is set to null. */
  readonly deselect?: 'delete';
} & (
  | { readonly onDelete: 'CASCADE' | 'SET NULL' | 'NO ACTION'; readonly constraint?: true }
  /**
   * The API leaves the relation out where no plugin declares its collection. The column has an index where `alias` is
   * set.
   */
  | { readonly constraint: false }
);

/**
 * A collection of the service, declared as data: a migration creates and extends its table, and the item routes serve
 * it as any other collection. `references.alias` on the field that holds the key declares a to-many alias.
 */
export interface SystemCollection {
  /** Starts with `platform_`. */
  readonly collection: string;
  /** The name of the table in earlier versions: the migration renames it with its rows, indexes and constraints. */
  readonly formerName?: string;
  readonly note: string;
  readonly fields: readonly SystemField[];
  readonly unique?: readonly (readonly string[])[];
  /** Additional indexes; keys, unique fields and foreign keys have theirs. */
  readonly indexes?: readonly (readonly string[])[];
  readonly singleton?: boolean;
  /** What a write records: activity and revisions (default), activity only, or nothing. */
  readonly accountability?: CollectionMeta['accountability'];
  /**
   * The actions that the item routes, GraphQL and the API documents offer to every caller. Default: all. `[]` for
   * collections with their own routes.
   */
  readonly verbs?: readonly ItemVerb[];
  /** No request reads or writes its rows. `listed`: admins see it in lists of collections and fields. */
  readonly internal?: true | 'listed';
}
