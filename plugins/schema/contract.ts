import { authorities, type Caller, facet, service } from '#kernel';
import type { Overview } from './schema-overview.ts';
import type { SystemCollection } from './system-collection.ts';

export type { CollectionRecord, FieldRecord, RelationRecord } from './records.ts';
export {
  type Collection,
  type CollectionMeta,
  type Column,
  type ElementType,
  FIELD_TYPES,
  type Field,
  type FieldMeta,
  type FieldType,
  type Overview,
  type Relation,
  type RelationEnd,
  type RelationMeta,
  type Verb,
} from './schema-overview.ts';
export type { SystemCollection, SystemField, SystemReference } from './system-collection.ts';

/** What the service knows of its database. Provided by `schema`, used by every plugin that works with collections. */
export interface Schema {
  /**
   * The schema snapshot to serve a request by: at once from memory where changes are announced, else checked first.
   * @throws SERVICE_UNAVAILABLE where the database has to be read and is not reached.
   */
  overview(): Promise<Overview>;
  /**
   * Reads the database again if anything changed since; for a name that was not found, or an error of the database.
   * @throws SERVICE_UNAVAILABLE where the database is not reached.
   */
  refresh(): Promise<Overview>;
  /**
   * Tables that no request can read. Asks the database: for admins, and where something was not found.
   * @throws SERVICE_UNAVAILABLE where the database is not reached.
   */
  unservedTables(): Promise<readonly UnservedTable[]>;
  /** Called in every process after the schema snapshot changed. */
  onChange(handle: (snapshot: Overview) => void): void;
}

/** A table or view of the schemas served that is no collection, or one whose rows cannot be read. */
export interface UnservedTable {
  readonly schema: string;
  readonly name: string;
  /** Why, and what to do: the end of a sentence. */
  readonly reason: string;
}

/** The schema snapshot and its changes. */
export const schema = service<Schema>('schema', { version: '1.0.0' });

/** Collections of plugins. The manifest section lists their names; their tables are prepared with the migrations. */
export const systemCollections = facet<SystemCollection>('schema.system', {
  manifest: {
    type: 'object',
    additionalProperties: false,
    required: ['collections'],
    properties: { collections: { type: 'array', items: { type: 'string', pattern: '^platform_' } } },
  },
  admit: (one, declared) => declared.collections.includes(one.collection) || `${one.collection} is not declared`,
  describe: (declared) => authorities('serves', declared.collections, 'as system collections'),
});

/** What the names of all system collections begin with, and no other name does. */
export const SYSTEM_PREFIX = 'platform_';

/**
 * Changes to collections, fields and relations: tables, columns and constraints together with their registry rows, in
 * one unit of work each. For admins only. `input` is what a client sent and is checked here. Every verb answers after
 * the schema snapshot of this process has the change; inside an open unit of work it can do so for that unit only.
 *
 * Filter events `collections.*`, `fields.*` and `relations.*` fire inside the unit of work, so that a plugin that keeps names
 * of what is deleted can clean up in the same transaction; actions follow after commit. Their meta: `collection`
 * (`platform_collections` for `collections.*`) and `keys` (names of collections, or of the fields of `collection`). What is in
 * `meta` of a payload is in it flat as well (`payload.note`); filters may change either form.
 *
 * Each verb may also throw what a listener throws, and SERVICE_UNAVAILABLE where a table is in use for more than five seconds.
 */
export interface SchemaWrites {
  /**
   * Several changes that hold together or not at all.
   * @throws what `work` throws.
   */
  unit<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Answers the name.
   * @throws FORBIDDEN for all but admins, INVALID_PAYLOAD, VALUE_TOO_LONG.
   */
  createCollection(caller: Caller, input: unknown): Promise<string>;
  /**
   * Changes `meta` only; `meta: null` deletes the registry row.
   * @throws FORBIDDEN for all but admins, ROUTE_NOT_FOUND for an unknown collection, INVALID_PAYLOAD, VALUE_TOO_LONG.
   */
  updateCollection(caller: Caller, collection: string, input: unknown): Promise<void>;
  /**
   * Drops the table and all traces of it, foreign keys of other collections that pointed to it included.
   * @throws FORBIDDEN for all but admins, ROUTE_NOT_FOUND for an unknown collection, INVALID_PAYLOAD for one of the service.
   */
  deleteCollection(caller: Caller, collection: string): Promise<void>;
  /**
   * Answers the name.
   * @throws FORBIDDEN for all but admins, ROUTE_NOT_FOUND for an unknown name, INVALID_PAYLOAD, VALUE_TOO_LONG,
   * CONTAINS_NULL_VALUES for a required field without a default where there are rows.
   */
  createField(caller: Caller, collection: string, input: unknown): Promise<string>;
  /**
   * Changes the column, `meta` or both; a member that `input` leaves out stays.
   * @throws FORBIDDEN for all but admins, ROUTE_NOT_FOUND for an unknown name, INVALID_PAYLOAD, VALUE_TOO_LONG, and what the rows that are
   * there refuse: CONTAINS_NULL_VALUES, RECORD_NOT_UNIQUE, VALUE_OUT_OF_RANGE.
   */
  updateField(caller: Caller, collection: string, field: string, input: unknown): Promise<void>;
  /**
   * Drops the column, its relations and its registry row.
   * @throws FORBIDDEN for all but admins, ROUTE_NOT_FOUND for an unknown name, INVALID_PAYLOAD for a primary key, a field of
   * the service and a field of a view.
   */
  deleteField(caller: Caller, collection: string, field: string): Promise<void>;
  /**
   * Answers the many side.
   * @throws FORBIDDEN for all but admins, INVALID_PAYLOAD, INVALID_FOREIGN_KEY where rows lead nowhere.
   */
  createRelation(caller: Caller, input: unknown): Promise<{ readonly collection: string; readonly field: string }>;
  /**
   * Changes the rules of the foreign key, `meta` or both.
   * @throws FORBIDDEN for all but admins, ROUTE_NOT_FOUND for an unknown name, INVALID_PAYLOAD, INVALID_FOREIGN_KEY.
   */
  updateRelation(caller: Caller, collection: string, field: string, input: unknown): Promise<void>;
  /**
   * Drops the foreign key and the registry row; the columns stay.
   * @throws FORBIDDEN for all but admins, ROUTE_NOT_FOUND for an unknown name, INVALID_PAYLOAD for a relation of the service.
   */
  deleteRelation(caller: Caller, collection: string, field: string): Promise<void>;
}

/** For plugins that change the schema on behalf of admins. */
export const schemaWrites = service<SchemaWrites>('schemaWrites', {
  version: '1.0.0',
  callers: {
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
