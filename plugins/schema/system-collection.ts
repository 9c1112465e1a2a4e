import type { CollectionMeta, FieldType, Verb } from './schema-overview.ts';

/** A field of a system collection. Its column is made from this. */
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
  /** Characters. */
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
  /** What happens to a row that a write leaves out of the list of the alias: its key is set to null, unless this says otherwise. */
  readonly deselect?: 'delete';
} & (
  | { readonly onDelete: 'CASCADE' | 'SET NULL' | 'NO ACTION'; readonly constraint?: true }
  /** It is left out of the API where no plugin declares its collection. It has an index where it has an alias. */
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
   * What the service offers of the usual verbs, to every caller; absent = all. `[]` for those with routes of their own. What
   * is made from the schema snapshot (GraphQL, documents) keeps to it.
   */
  readonly verbs?: readonly Verb[];
  /** No request reads or writes its rows. `listed`: admins see it in lists of collections and fields. */
  readonly internal?: true | 'listed';
}
