import { type Caller, service } from '#kernel';
import type { FieldsAndPresets } from '../access/contract.ts';
import type { Route } from '../http/contract.ts';
import type {
  GroupSelection,
  PlaceholderValues,
  RawQuery,
  ReadResultText,
  RowSelection,
  RowStream,
} from '../query/contract.ts';
import type { ItemsApi } from './capability/items-api.ts';
import type { ExportOptions, ImportOptions, ReadImportBatches } from './import-and-export-options.ts';
import type { ReadExplanation } from './read/explanation.ts';
import type { ExportDownload } from './read/export/download.ts';
import type { ExportFormatName } from './read/export/formats.ts';

/** Value of a primary key, as JSON has it. */
export type Key = string | number;

/** Fields of a row to write, by name, as a client sends them. */
export type Payload = Record<string, unknown>;

/**
 * Read and write verbs for any collection, system collections included (specification, "Items endpoints"). Every verb
 * takes the caller first and applies the caller's permissions; only `host.asSystem(reason)` has none. Events fire as in
 * the conventions: generic and scoped names for user collections, `<name>.<verb>` for system collections. Each write is
 * one unit of work, or joins the open one. A write of more than MAX_BATCH_MUTATION rows, nested ones included, is
 * INVALID_PAYLOAD.
 *
 * Each verb may also throw what a listener throws, and SERVICE_UNAVAILABLE where the database is not reachable or a
 * statement takes too long. FORBIDDEN is also the answer for a collection, a row or a field that does not exist; an
 * admin gets ROUTE_NOT_FOUND for a missing collection. "Constraint errors" are INVALID_FOREIGN_KEY, RECORD_NOT_UNIQUE,
 * NOT_NULL_VIOLATION, VALUE_OUT_OF_RANGE, VALUE_TOO_LONG, and INVALID_PAYLOAD for others; their `path` leads to the row
 * and the field.
 */
export interface ItemsEngine {
  /**
   * Reads a list, with `meta` where the query requests it. A singleton answers an object.
   * @throws FORBIDDEN, INVALID_QUERY.
   */
  readMany(caller: Caller, collection: string, query: RawQuery): Promise<ReadResultText>;
  /**
   * Reads one row.
   * @throws FORBIDDEN where it does not exist or may not be read, INVALID_QUERY.
   */
  readOne(caller: Caller, collection: string, key: unknown, query?: RawQuery): Promise<ReadResultText>;
  /**
   * Reads the rows of these keys that the caller may read, in the order of the keys.
   * @throws FORBIDDEN, INVALID_QUERY.
   */
  readKeys(caller: Caller, collection: string, keys: readonly unknown[], query?: RawQuery): Promise<ReadResultText>;
  /**
   * `readMany` for callers that can stream: a long list is a stream, everything else a text.
   * @throws FORBIDDEN, INVALID_QUERY.
   */
  stream(caller: Caller, collection: string, query: RawQuery): Promise<ReadResultText | RowStream>;
  /**
   * Reads a tree of fields and answers exactly its form. Read listeners of the collection receive the rows in their
   * REST representation.
   * @throws FORBIDDEN, also for a missing or unreadable row by key, INVALID_QUERY.
   */
  select(caller: Caller, collection: string, request: SelectionReadRequest): Promise<ReadResultText | RowStream>;
  /**
   * The rows of a list read as a file, rendered while they are read. The query's limit applies, unless `options` say
   * otherwise.
   * @throws FORBIDDEN, INVALID_QUERY.
   */
  export(
    caller: Caller,
    collection: string,
    format: ExportFormatName,
    query: RawQuery,
    options?: ExportOptions,
  ): Promise<ExportDownload>;
  /**
   * How `readMany`, or with a key `readOne`, would run. The explanation contains no values, but row rules: for admins.
   * @throws FORBIDDEN, INVALID_QUERY.
   */
  explain(caller: Caller, collection: string, query: RawQuery, key?: unknown): Promise<ReadExplanation>;
  /**
   * Reads parsed rows, for code, without a default limit.
   * @throws FORBIDDEN, INVALID_QUERY.
   */
  rows<Row = Record<string, unknown>>(caller: Caller, collection: string, query: RawQuery): Promise<Row[]>;
  /**
   * Parses the query without reading; no event fires. `unlimited`: as `export` with this option.
   * @throws INVALID_QUERY for an invalid query, FORBIDDEN for an unknown name in it.
   */
  checkQuery(
    caller: Caller,
    collection: string,
    query: RawQuery,
    options?: Pick<ExportOptions, 'unlimited'>,
  ): Promise<void>;
  /**
   * What the caller may do with a row; nothing with a missing row. Without a key: with the row of a singleton, which an
   * update may create, and in other collections with at least one row. Presets are returned as they are stored.
   * @throws FORBIDDEN for admins, where the collection does not exist.
   */
  itemPermissions(caller: Caller, collection: string, key?: unknown): Promise<ItemPermissions>;
  /**
   * Creates a row with its nested rows. Returns its key.
   * @throws FORBIDDEN, INVALID_PAYLOAD, Failures of FAILED_VALIDATION, constraint errors.
   */
  createOne(caller: Caller, collection: string, payload: Payload, options?: WriteOptions): Promise<Key>;
  /**
   * Creates all rows or none. Returns their keys in the order of `payloads`.
   * @throws FORBIDDEN, INVALID_PAYLOAD, Failures of FAILED_VALIDATION, constraint errors.
   */
  createMany(
    caller: Caller,
    collection: string,
    payloads: readonly Payload[],
    options?: Omit<WriteOptions, 'platformValues'>,
  ): Promise<Key[]>;
  /**
   * Changes a row and its nested rows. Returns its key.
   * @throws FORBIDDEN, INVALID_PAYLOAD, Failures of FAILED_VALIDATION, constraint errors.
   */
  updateOne(caller: Caller, collection: string, key: unknown, payload: Payload, options?: WriteOptions): Promise<Key>;
  /**
   * Changes several rows by one payload, or none where one of them may not be updated.
   * @throws FORBIDDEN, INVALID_PAYLOAD, Failures of FAILED_VALIDATION, constraint errors.
   */
  updateMany(
    caller: Caller,
    collection: string,
    keys: readonly unknown[],
    payload: Payload,
    options?: WriteCancellation,
  ): Promise<Key[]>;
  /**
   * Changes each row by its own payload; every payload contains the primary key.
   * @throws FORBIDDEN, INVALID_PAYLOAD, Failures of FAILED_VALIDATION, constraint errors.
   */
  updateEach(
    caller: Caller,
    collection: string,
    payloads: readonly Payload[],
    options?: WriteCancellation,
  ): Promise<Key[]>;
  /**
   * Changes the rows that the query finds by one payload. Returns their keys.
   * @throws FORBIDDEN, INVALID_QUERY, INVALID_PAYLOAD, Failures of FAILED_VALIDATION, constraint errors.
   */
  updateByQuery(
    caller: Caller,
    collection: string,
    query: RawQuery,
    payload: Payload,
    options?: WriteCancellation,
  ): Promise<Key[]>;
  /**
   * Creates or changes the row of a singleton. Returns its key.
   * @throws FORBIDDEN, INVALID_PAYLOAD, Failures of FAILED_VALIDATION, constraint errors.
   */
  upsertSingleton(caller: Caller, collection: string, payload: Payload, options?: WriteCancellation): Promise<Key>;
  /**
   * Throws what `importRows` would throw before it reads a row.
   * @throws FORBIDDEN, INVALID_PAYLOAD for a singleton.
   */
  checkImport(caller: Caller, collection: string): Promise<void>;
  /**
   * Writes all rows or none, in one unit of work and batch by batch: rows whose key exists are updated, the others are
   * created (specification, "Utility endpoints"). Permission to create and to update is needed, and for a system
   * collection an admin. Returns the number of rows. A batch should hold at most some hundred rows, so that memory
   * stays flat. Where a row is rejected the rows are read again and written to find all errors, and rolled back; filters
   * are then called again.
   * @throws Failures of all rejected rows, at most `maxErrors`, with the `position` of each in `extensions`; FORBIDDEN,
   * INVALID_PAYLOAD for a singleton and for more rows than MAX_BATCH_MUTATION.
   */
  importRows(
    caller: Caller,
    collection: string,
    readBatches: ReadImportBatches,
    options?: ImportOptions,
  ): Promise<number>;
  /**
   * Deletes all rows or none. Returns their keys.
   * @throws FORBIDDEN, INVALID_PAYLOAD for too many rows, constraint errors of rows that refer to them.
   */
  deleteMany(caller: Caller, collection: string, keys: readonly unknown[], options?: WriteCancellation): Promise<Key[]>;
  /**
   * Deletes the rows that the query finds. Returns their keys.
   * @throws FORBIDDEN, INVALID_QUERY, INVALID_PAYLOAD for too many rows, constraint errors.
   */
  deleteByQuery(caller: Caller, collection: string, query: RawQuery, options?: WriteCancellation): Promise<Key[]>;
  /**
   * Moves a row immediately before another one in the manual order. The caller has to be allowed to update the sort field of both.
   * @throws FORBIDDEN, INVALID_PAYLOAD for a collection without a sort field.
   */
  moveBefore(caller: Caller, collection: string, key: unknown, before: unknown, end?: WriteCancellation): Promise<void>;
}

/** What cancels a write. A write that is cancelled before its commit begins writes nothing. */
export interface WriteCancellation {
  /**
   * Aborts when the client disconnects, and cancels the write. The outermost unit of work calls it once the write takes
   * long.
   */
  readonly signal?: () => AbortSignal | undefined;
}

/** What the caller may do with a row; `update` with the permitted fields and the presets. */
export interface ItemPermissions {
  readonly update: { readonly access: boolean } & FieldsAndPresets;
  readonly delete: { readonly access: boolean };
  readonly share: { readonly access: boolean };
}

/** Options of a write that plugins set and clients cannot: values of the platform, and an answer from the writing statement. */
export interface WriteOptions extends WriteCancellation {
  /**
   * Values that the platform sets: they override the payload, take part in validation and need no grant of the caller.
   */
  readonly platformValues?: Payload;
  /** Lets the writing statement itself answer the row, or the list of rows, as this query reads it, where that is possible. */
  readonly answer?: WrittenRowsAnswerSlot;
}

/** The answer to a write, without the round trip of reading the row back. */
export interface WrittenRowsAnswerSlot {
  /** Parameters that shape the answer: fields, deep, alias. */
  readonly query: RawQuery;
  /** JSON text of the row, or of the list of rows, set by the write; undefined where the rows have to be read back. */
  data?: string;
}

/** A selection to read. `selection` is called only where no compiled statement is cached for `text`. */
export interface SelectionReadRequest {
  readonly selection: (open?: boolean) => RowSelection | GroupSelection;
  /** Everything that the selection depends on: the same text always means the same selection of this collection. */
  readonly text?: string;
  /**
   * Values of conditions that are no part of `text`, so that one statement serves all of them. `selection(true)` has an
   * `OperandPlaceholder` in place of each, by its name; `selection()` has the values themselves.
   */
  readonly placeholders?: PlaceholderValues;
  /** One row by its key; never part of `text`. */
  readonly key?: unknown;
  /** The rows of these keys, in the order of the keys. */
  readonly keys?: readonly unknown[];
  /** `long`: a long list is a stream, everything else a text. */
  readonly streaming?: 'long';
}

/** The service for every plugin that reads or writes rows for a caller. */
export const items = service<ItemsEngine>('items', {
  version: '1.0.0',
  callers: {
    readMany: 0,
    readOne: 0,
    readKeys: 0,
    stream: 0,
    select: 0,
    export: 0,
    explain: 0,
    rows: 0,
    checkQuery: 0,
    itemPermissions: 0,
    createOne: 0,
    createMany: 0,
    updateOne: 0,
    updateMany: 0,
    updateEach: 0,
    updateByQuery: 0,
    upsertSingleton: 0,
    checkImport: 0,
    importRows: 0,
    deleteMany: 0,
    deleteByQuery: 0,
    moveBefore: 0,
  },
});

/** Clears references to rows before their deletion, without permissions: for collections whose rows own bytes. */
export interface ReferenceRemoval {
  /**
   * Sets the columns of all tables that refer to these rows to null, except those of relations with RESTRICT, which
   * fail the delete itself. Keys are texts.
   * @throws INVALID_FOREIGN_KEY where a column is required: `extensions` names collection and field, where the caller
   * may read them.
   */
  clear(collection: string, keys: readonly string[], caller: Caller): Promise<void>;
}

/** The service for plugins whose rows own bytes, such as `files`. */
export const referenceRemoval = service<ReferenceRemoval>('references', { version: '1.0.0', callers: { clear: 2 } });

declare module '#kernel' {
  interface HostMembers {
    readonly items: ItemsApi;
  }
}

export type { ExportOptions, ImportOptions, ImportRow, ReadImportBatches } from './import-and-export-options.ts';
export type { ExportDownload, ExportFormatName, ItemsApi, ReadExplanation, Route };
