import { type Caller, type EventsApi, fail } from '#kernel';
import type { InterProcessBus } from '../../cluster/contract.ts';
import type { Db } from '../../database/contract.ts';
import { quoteIdentifier } from '../../database/library.ts';
import type { Collection, Field, SchemaOverview } from '../contract.ts';
import type { SchemaCache } from '../freshness/schema-cache.ts';
import { createUnknownSchemaNameFailure } from '../not-found.ts';

export interface SchemaWriteDeps {
  readonly db: Db;
  readonly cache: SchemaCache;
  readonly events: Pick<EventsApi, 'filter' | 'action'>;
  readonly bus: Pick<InterProcessBus, 'publish' | 'waitForConfirmation'>;
  readonly inUnit: () => boolean;
  /**
   * Input is a record of a schema snapshot, which describes a column as it is in another database: `data_type`, comments, composite
   * keys and names of constraints count, and nothing is added to it.
   */
  readonly exact?: true;
  /** Called in a trial before a column gets another type. False: rows do not convert, and the statement is not run. */
  readonly tryConversion?: (conversion: ColumnConversion) => Promise<boolean>;
}

/** A column that gets another type. */
export interface ColumnConversion {
  readonly collection: string;
  readonly field: string;
  /** The quoted name of the table. */
  readonly table: string;
  /** The quoted name of the column. */
  readonly column: string;
  /** The current type, and the new one, as they stand in casts. */
  readonly from: string;
  readonly to: string;
  /** The type of the explicit cast, before the value is assigned to the column. */
  readonly cast: string;
}

/** The quoted name of a registry table. */
export const quoteRegistryTable = (
  { db }: Pick<SchemaWriteDeps, 'db'>,
  name: 'collections' | 'fields' | 'relations',
): string => `${quoteIdentifier(db.schemas[0] as string)}.${quoteIdentifier(`platform_${name}`)}`;

/** The quoted name of the table of a collection. @throws INVALID_PAYLOAD for a folder */
export function quoteTable(collection: Collection): string {
  if (!collection.table) throw fail('INVALID_PAYLOAD', `Collection "${collection.name}" has no table.`);
  return `${quoteIdentifier(collection.table.schema)}.${quoteIdentifier(collection.table.name)}`;
}

export function assertAdmin(caller: Caller): void {
  if (!caller.admin) throw fail('FORBIDDEN', 'the schema is changed by admins only');
}

/** @throws ROUTE_NOT_FOUND for an unknown name: only admins get here, who may know which names exist (ADR 42) */
export function requireCollection(snapshot: SchemaOverview, name: string): Collection {
  const collection = snapshot.collections.get(name);
  if (!collection) throw createUnknownSchemaNameFailure('collection', name);
  return collection;
}

export function requireField(collection: Collection, name: string): Field {
  const field = collection.fields.get(name);
  if (!field) throw createUnknownSchemaNameFailure('field', `${collection.name}.${name}`);
  return field;
}

export const isSystemField = (field: Field): boolean => field.meta?.system === true;
