import { authorities, type Caller, facet, service } from '#kernel';
import type { SchemaOverview } from './schema-overview.ts';
import type { SystemCollection } from './system-collection.ts';

export type { CollectionRecord, FieldRecord, RelationRecord } from './schema-api-records.ts';
export {
  type Collection,
  type CollectionMeta,
  type Column,
  type ElementType,
  FIELD_TYPES,
  type Field,
  type FieldMeta,
  type FieldType,
  type ItemVerb,
  type Relation,
  type RelationEnd,
  type RelationMeta,
  type SchemaOverview,
} from './schema-overview.ts';
export type { SystemCollection, SystemField, SystemReference } from './system-collection.ts';

/**
 * The service `schema`: collections, fields and relations of the database, for every plugin that works with
 * collections.
 */
export interface SchemaService {
  /**
   * The schema snapshot for a request: from memory where the database announces changes, else after a check of the
   * catalogs.
   * @throws SERVICE_UNAVAILABLE where the database has to be read and is not reached.
   */
  snapshot(): Promise<SchemaOverview>;
  /**
   * Checks the catalogs, and reads them again where they changed. Call it when a name is not found or a statement
   * fails.
   * @throws SERVICE_UNAVAILABLE where the database is not reached.
   */
  refresh(): Promise<SchemaOverview>;
  /** The declarations of all system collections, internal ones left out; usable without a database. */
  systemCollections(): readonly SystemCollection[];
  /**
   * Tables that no request can read. Runs a statement each time: for admins, and where a collection is not found.
   * @throws SERVICE_UNAVAILABLE where the database is not reached.
   */
  unservedTables(): Promise<readonly UnservedTable[]>;
  /**
   * Makes the database announce every command that changes tables, views or triggers, on the bus channel `SCHEMA_CHANNEL`. False where
   * the database role may not create the event trigger for it. Later calls get the result of the first.
   */
  announceCommands(): Promise<boolean>;
  /** Calls `handle` in every process after the schema snapshot has changed. */
  onChange(handle: (snapshot: SchemaOverview) => void): void;
}

/** A table or view of DB_SCHEMAS that is not served as a collection, or that the database role may not read. */
export interface UnservedTable {
  readonly schema: string;
  readonly name: string;
  /** Why it is not served and what to do, as the end of a sentence. */
  readonly reason: string;
}

/** The bus channel on which changes of the schema are announced, with null. */
export const SCHEMA_CHANNEL = 'schema';

/** The bus channel on which changed rows are announced, with the oid of the table that a statement named. */
export const ROW_CHANGES_CHANNEL = 'rows.changed';

/** What is known of one table or view after `RowChanges.announce`. */
export interface AnnouncedTable {
  /** The quoted name with its schema, as it was passed. */
  readonly table: string;
  /**
   * The oids of all tables whose announcement may mean that a read of this table has another answer: partitions and children, their
   * parents, and the tables behind a view.
   */
  readonly relations: readonly number[];
  /** Why changes are not announced, as the end of a sentence; undefined where they are. */
  readonly refusal: string | undefined;
}

/**
 * The service `rowChanges`: makes the database announce changes of rows of any table, by any client, on `ROW_CHANGES_CHANNEL`. It puts
 * a statement trigger on each table; there is none before a plugin asks for it.
 */
export interface RowChanges {
  /**
   * Creates the missing triggers, and answers what is announced now. A trigger that was created is itself announced as a change of the
   * schema before this resolves. A table that stays locked for 200 milliseconds is refused for now.
   * @throws SERVICE_UNAVAILABLE where the database is not reached.
   */
  announce(tables: readonly string[]): Promise<readonly AnnouncedTable[]>;
  /**
   * Removes all triggers. Answers how many there were.
   * @throws SERVICE_UNAVAILABLE where the database is not reached, and the error of PostgreSQL where a table stays locked for five
   * seconds.
   */
  remove(): Promise<number>;
}

/** Key of the service for plugins that keep in memory what they read of any table. */
export const rowChanges = service<RowChanges>('rowChanges', { version: '1.0.0', coreOnly: true });

/** Key of the service that answers the schema snapshot. */
export const schema = service<SchemaService>('schema', { version: '1.0.0' });

/** Facet for system collections of plugins. The manifest lists their names; a migration creates their tables. */
export const systemCollections = facet<SystemCollection>('schema.system', {
  manifest: {
    type: 'object',
    additionalProperties: false,
    required: ['collections'],
    properties: { collections: { type: 'array', items: { type: 'string', pattern: '^platform_' } } },
  },
  validate: (one, declared) => declared.collections.includes(one.collection) || `${one.collection} is not declared`,
  describe: (declared) => authorities('serves', declared.collections, 'as system collections'),
});

/** The prefix of all system collections. It is reserved for them. */
export const SYSTEM_COLLECTION_PREFIX = 'platform_';

/**
 * Changes collections, fields and relations: tables, columns and constraints together with their registry rows. Each
 * call is one unit of work, for admins only. `input` is the request body, which is validated here. Each call resolves
 * once the schema snapshot of this process has the change; inside an open unit of work only that unit sees it.
 *
 * Filter events `collections.*`, `fields.*` and `relations.*` run inside the unit of work, so that a plugin that stores
 * names can delete them in the same transaction; actions run after the commit. Event meta: `collection`
 * (`platform_collections` for `collections.*`) and `keys` (names of collections, or of fields of `collection`). Members
 * of `meta` are also members of the payload itself (`payload.note`); filters may change either.
 *
 * Each call may also throw the error of a listener, and SERVICE_UNAVAILABLE where a table stays locked for more than
 * five seconds.
 */
export interface SchemaWrites {
  /**
   * Runs several changes as one unit of work.
   * @throws what `work` throws.
   */
  transaction<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Runs many changes as one unit of work, with the statements that changed tables. Their input are records of a schema snapshot,
   * with columns as they are in another database: `schema.data_type`, comments, composite keys and names of constraints count, and
   * nothing is added to them. With `trial` the unit is rolled back: no listener runs, no other process hears of it, and a change of a
   * type whose rows do not convert is counted in place of being run. The tables stay locked until the end of the trial.
   * @throws FORBIDDEN for callers that are not admins, and what `work` throws.
   */
  batch<T>(
    caller: Caller,
    work: (batch: SchemaBatch) => Promise<T>,
    options?: { readonly trial?: boolean },
  ): Promise<SchemaBatchResult<T>>;
  /**
   * Creates a table with its fields, or a folder. Answers the name.
   * @throws FORBIDDEN for callers that are not admins, INVALID_PAYLOAD, VALUE_TOO_LONG.
   */
  createCollection(caller: Caller, input: unknown): Promise<string>;
  /**
   * Changes `meta` only; `meta: null` deletes the registry row.
   * @throws FORBIDDEN for callers that are not admins, ROUTE_NOT_FOUND for an unknown collection, INVALID_PAYLOAD,
   * VALUE_TOO_LONG.
   */
  updateCollection(caller: Caller, collection: string, input: unknown): Promise<void>;
  /**
   * Drops the table, its registry rows, and the fields of other collections that refer to it.
   * @throws FORBIDDEN for callers that are not admins, ROUTE_NOT_FOUND for an unknown collection, INVALID_PAYLOAD for a
   * system collection.
   */
  deleteCollection(caller: Caller, collection: string): Promise<void>;
  /**
   * Adds a column or an alias. Answers the name.
   * @throws FORBIDDEN for callers that are not admins, ROUTE_NOT_FOUND for an unknown name, INVALID_PAYLOAD,
   * VALUE_TOO_LONG, CONTAINS_NULL_VALUES for a required field without a default where there are rows.
   */
  createField(caller: Caller, collection: string, input: unknown): Promise<string>;
  /**
   * Changes the column, `meta` or both; members that `input` leaves out stay.
   * @throws FORBIDDEN for callers that are not admins, ROUTE_NOT_FOUND for an unknown name, INVALID_PAYLOAD,
   * VALUE_TOO_LONG, and where existing rows do not fit: CONTAINS_NULL_VALUES, RECORD_NOT_UNIQUE, VALUE_OUT_OF_RANGE.
   */
  updateField(caller: Caller, collection: string, field: string, input: unknown): Promise<void>;
  /**
   * Drops the column, its relations and its registry row.
   * @throws FORBIDDEN for callers that are not admins, ROUTE_NOT_FOUND for an unknown name, INVALID_PAYLOAD for a
   * primary key, a system field and a column of a view.
   */
  deleteField(caller: Caller, collection: string, field: string): Promise<void>;
  /**
   * Creates a relation, with a foreign key where both ends are tables. Answers the many side.
   * @throws FORBIDDEN for callers that are not admins, INVALID_PAYLOAD, INVALID_FOREIGN_KEY where rows refer to missing
   * rows.
   */
  createRelation(caller: Caller, input: unknown): Promise<{ readonly collection: string; readonly field: string }>;
  /**
   * Changes the referential actions of the foreign key, `meta` or both.
   * @throws FORBIDDEN for callers that are not admins, ROUTE_NOT_FOUND for an unknown name, INVALID_PAYLOAD,
   * INVALID_FOREIGN_KEY.
   */
  updateRelation(caller: Caller, collection: string, field: string, input: unknown): Promise<void>;
  /**
   * Drops the foreign key and the registry row; the columns stay.
   * @throws FORBIDDEN for callers that are not admins, ROUTE_NOT_FOUND for an unknown name, INVALID_PAYLOAD for a
   * system relation.
   */
  deleteRelation(caller: Caller, collection: string, field: string): Promise<void>;
}

/** The changes of a batch: those of `SchemaWrites`, with their errors, for the caller of the batch. */
export interface SchemaBatch {
  createCollection(input: unknown): Promise<string>;
  updateCollection(collection: string, input: unknown): Promise<void>;
  deleteCollection(collection: string): Promise<void>;
  createField(collection: string, input: unknown): Promise<string>;
  updateField(collection: string, field: string, input: unknown): Promise<void>;
  /**
   * Renames a field with its column; values, indexes and foreign keys stay. Permissions and other rows that name it do not change.
   * @throws ROUTE_NOT_FOUND for an unknown name, INVALID_PAYLOAD for a name that is taken or invalid, and for a system field.
   */
  renameField(collection: string, field: string, name: string): Promise<void>;
  deleteField(collection: string, field: string): Promise<void>;
  createRelation(input: unknown): Promise<{ readonly collection: string; readonly field: string }>;
  updateRelation(collection: string, field: string, input: unknown): Promise<void>;
  deleteRelation(collection: string, field: string): Promise<void>;
  /** The schema snapshot with the changes so far. */
  snapshot(): Promise<SchemaOverview>;
}

/** What a batch answers. */
export interface SchemaBatchResult<T> {
  readonly value: T;
  /** The statements that created, changed and dropped tables, in their order. */
  readonly statements: readonly string[];
  /** Changes of types; counted in a trial only. */
  readonly conversions: readonly ConversionCheck[];
}

/** A column that would get another type. */
export interface ConversionCheck {
  readonly collection: string;
  readonly field: string;
  /** Types of PostgreSQL. */
  readonly from: string;
  readonly to: string;
  /** Rows with a value, and how many of them do not convert. */
  readonly rows: number;
  readonly failing: number;
}

/** Key of the service for plugins that change the schema on behalf of admins. */
export const schemaWrites = service<SchemaWrites>('schemaWrites', {
  version: '1.0.0',
  callers: {
    batch: 0,
    createCollection: 0,
    updateCollection: 0,
    deleteCollection: 0,
    createField: 0,
    updateField: 0,
    deleteField: 0,
    createRelation: 0,
    updateRelation: 0,
    deleteRelation: 0,
  },
});
