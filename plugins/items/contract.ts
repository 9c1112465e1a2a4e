import { type Caller, service } from '#kernel';
import type { Grant } from '../access/contract.ts';
import type { Invocation } from '../broker/contract.ts';
import type { Route } from '../http/contract.ts';
import type { GivenValues, GroupSelection, RawQuery, ReadText, Selection, Stream } from '../query/contract.ts';
import type { ReadExplanation } from './read/explanation.ts';
import type { Download } from './read/export/download.ts';
import type { ExportFormatName } from './read/export/formats.ts';

/** Value of a primary key, as JSON has it. */
export type Key = string | number;

/** Fields of a row to write, by name, as a client sends them. */
export type Payload = Record<string, unknown>;

/**
 * Verbs over any collection, system collections included. Every verb takes the caller first and applies the caller's
 * permissions; `host.asSystem(reason)` is the only caller without any. Events fire as the conventions say: generic and
 * scoped names for user collections, `<name>.<verb>` for system ones. Writes are one unit of work each and join an open one;
 * a write of more than MAX_BATCH_MUTATION rows, nested ones included, is INVALID_PAYLOAD.
 *
 * Each verb may also throw what a listener throws, and SERVICE_UNAVAILABLE where the database is not reached or a statement takes
 * too long. FORBIDDEN is as well the answer for a collection, a row or a field that does not exist; to an admin a collection
 * that does not exist is ROUTE_NOT_FOUND. "Constraint errors" are INVALID_FOREIGN_KEY, RECORD_NOT_UNIQUE, NOT_NULL_VIOLATION,
 * VALUE_OUT_OF_RANGE, VALUE_TOO_LONG, and INVALID_PAYLOAD for others; their `path` leads to the row and the field.
 */
export interface Items {
  /**
   * List read; `meta` where the query asks for it. Singletons answer an object.
   * @throws FORBIDDEN, INVALID_QUERY.
   */
  readMany(caller: Caller, collection: string, query: RawQuery): Promise<ReadText>;
  /**
   * One row.
   * @throws FORBIDDEN where it does not exist or may not be read, INVALID_QUERY.
   */
  readOne(caller: Caller, collection: string, key: unknown, query?: RawQuery): Promise<ReadText>;
  /**
   * The rows of these keys that the caller may read, in the order of the keys.
   * @throws FORBIDDEN, INVALID_QUERY.
   */
  readKeys(caller: Caller, collection: string, keys: readonly unknown[], query?: RawQuery): Promise<ReadText>;
  /**
   * `readMany` for callers that can send an answer in parts: a long list is a stream, all else a text.
   * @throws FORBIDDEN, INVALID_QUERY.
   */
  stream(caller: Caller, collection: string, query: RawQuery): Promise<ReadText | Stream>;
  /**
   * A read whose fields are a tree, answered in exactly the form of the tree. Read listeners of the collection receive the rows in
   * their REST representation.
   * @throws FORBIDDEN, for a row by key that does not exist or may not be read too, INVALID_QUERY.
   */
  select(caller: Caller, collection: string, asked: Selecting): Promise<ReadText | Stream>;
  /**
   * The rows of a list read (or of `keys`) as a file, made while it is read. Limits are those of the query.
   * @throws FORBIDDEN, INVALID_QUERY.
   */
  export(
    caller: Caller,
    collection: string,
    format: ExportFormatName,
    query: RawQuery,
    keys?: readonly unknown[],
  ): Promise<Download>;
  /**
   * How `readMany`, or with a key `readOne`, would be run. It has no value in it, but it shows row rules: for admins.
   * @throws FORBIDDEN, INVALID_QUERY.
   */
  explain(caller: Caller, collection: string, query: RawQuery, key?: unknown): Promise<ReadExplanation>;
  /**
   * Parsed rows, for code. No default limit.
   * @throws FORBIDDEN, INVALID_QUERY.
   */
  rows<Row = Record<string, unknown>>(caller: Caller, collection: string, query: RawQuery): Promise<Row[]>;
  /**
   * Parses the query without reading; no event fires.
   * @throws INVALID_QUERY for a query that makes no sense, FORBIDDEN for an unknown name in it.
   */
  checkQuery(caller: Caller, collection: string, query: RawQuery): Promise<void>;
  /**
   * What the caller may do with a row: nothing with one that is not there. Without a key with the row of a singleton, which an
   * update may create, and elsewhere with some row at least. Presets are as they are stored.
   * @throws FORBIDDEN for admins, where there is no such collection.
   */
  permitted(caller: Caller, collection: string, key?: unknown): Promise<ItemPermissions>;
  /**
   * Creates a row with its nested rows; answers its key.
   * @throws FORBIDDEN, INVALID_PAYLOAD, Failures of FAILED_VALIDATION, constraint errors.
   */
  createOne(caller: Caller, collection: string, payload: Payload, options?: WriteOptions): Promise<Key>;
  /**
   * Creates rows, all or none; answers their keys in the order of `payloads`.
   * @throws FORBIDDEN, INVALID_PAYLOAD, Failures of FAILED_VALIDATION, constraint errors.
   */
  createMany(caller: Caller, collection: string, payloads: readonly Payload[], options?: WriteLimits): Promise<Key[]>;
  /**
   * Changes a row and its nested rows; answers its key.
   * @throws FORBIDDEN, INVALID_PAYLOAD, Failures of FAILED_VALIDATION, constraint errors.
   */
  updateOne(caller: Caller, collection: string, key: unknown, payload: Payload, options?: WriteOptions): Promise<Key>;
  /**
   * The same change to several rows; one that may not be updated fails all.
   * @throws FORBIDDEN, INVALID_PAYLOAD, Failures of FAILED_VALIDATION, constraint errors.
   */
  updateMany(
    caller: Caller,
    collection: string,
    keys: readonly unknown[],
    payload: Payload,
    options?: WriteLimits,
  ): Promise<Key[]>;
  /**
   * Each row its own change; every payload contains the primary key.
   * @throws FORBIDDEN, INVALID_PAYLOAD, Failures of FAILED_VALIDATION, constraint errors.
   */
  updateEach(caller: Caller, collection: string, payloads: readonly Payload[], options?: WriteLimits): Promise<Key[]>;
  /**
   * The same change to the rows that the query finds; answers their keys.
   * @throws FORBIDDEN, INVALID_QUERY, INVALID_PAYLOAD, Failures of FAILED_VALIDATION, constraint errors.
   */
  updateByQuery(
    caller: Caller,
    collection: string,
    query: RawQuery,
    payload: Payload,
    options?: WriteLimits,
  ): Promise<Key[]>;
  /**
   * Creates the row of a singleton or changes it.
   * @throws FORBIDDEN, INVALID_PAYLOAD, Failures of FAILED_VALIDATION, constraint errors.
   */
  upsertSingleton(caller: Caller, collection: string, payload: Payload, options?: WriteLimits): Promise<Key>;
  /**
   * Deletes rows, all or none; answers their keys.
   * @throws FORBIDDEN, INVALID_PAYLOAD for too many rows, constraint errors of rows that refer to them.
   */
  deleteMany(caller: Caller, collection: string, keys: readonly unknown[], options?: WriteLimits): Promise<Key[]>;
  /**
   * Deletes the rows that the query finds; answers their keys.
   * @throws FORBIDDEN, INVALID_QUERY, INVALID_PAYLOAD for too many rows, constraint errors.
   */
  deleteByQuery(caller: Caller, collection: string, query: RawQuery, options?: WriteLimits): Promise<Key[]>;
}

/** What ends a write before its commit begins: nothing of it is written then. */
export interface WriteLimits {
  /** Aborts when the client leaves, whose write ends with it. Asked for when the write takes long. Looked at by the outermost unit of work. */
  readonly signal?: () => AbortSignal | undefined;
}

/** What may be done with a row; an update by the fields granted, which adds the presets. */
export interface ItemPermissions {
  readonly update: { readonly access: boolean } & Grant;
  readonly delete: { readonly access: boolean };
  readonly share: { readonly access: boolean };
}

/** What the platform adds to a write. */
export interface WriteOptions extends WriteLimits {
  /** Values the platform sets: they stand whatever the payload says, count for validation and need no grant of the caller. */
  readonly given?: Payload;
  /** The writing statement itself answers the row as this query reads it, where it can. */
  readonly answer?: WrittenAnswer;
}

/** What a write is answered with: one round trip fewer than reading the row back. */
export interface WrittenAnswer {
  /** What shapes the answer: fields, deep, alias. */
  readonly query: RawQuery;
  /** JSON text of the row, set by the write; unset where the row has to be read back. */
  data?: string;
}

/** A selection to read. It is made only where no compiled statement is remembered for its text. */
export interface Selecting {
  readonly selection: (open?: boolean) => Selection | GroupSelection;
  /** Everything the selection depends on, where the same text always means the same selection of this collection. */
  readonly text?: string;
  /**
   * Values of conditions that are no part of `text`, so that one statement serves all of them. `selection(true)` has a `Given`
   * in the place of each, by its name, and otherwise the values themselves.
   */
  readonly given?: GivenValues;
  /** One row by its key; never part of `text`. */
  readonly key?: unknown;
  /** The rows of these keys, in their order. */
  readonly keys?: readonly unknown[];
  /** `long`: a long list is a stream, all else a text. */
  readonly inParts?: 'long';
}

/** For every plugin that reads or writes rows for a caller. */
export const items = service<Items>('items', {
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
    permitted: 0,
    createOne: 0,
    createMany: 0,
    updateOne: 0,
    updateMany: 0,
    updateEach: 0,
    updateByQuery: 0,
    upsertSingleton: 0,
    deleteMany: 0,
    deleteByQuery: 0,
  },
});

/** Clears what refers to rows that are about to be deleted, without permissions: for collections whose rows own bytes. */
export interface References {
  /**
   * Nulls the columns of all tables that refer to these rows, but for relations with RESTRICT, which the delete itself meets. Keys are
   * texts.
   * @throws INVALID_FOREIGN_KEY where a column must have a value: `extensions` names collection and field, where the caller may read them.
   */
  clear(collection: string, keys: readonly string[], caller: Caller): Promise<void>;
}

/** For plugins whose rows own bytes: `files`. */
export const references = service<References>('references', { version: '1.0.0', callers: { clear: 2 } });

/**
 * What the capability `items` binds: the verbs within a grant and the bounds of confined code (conventions, "items"). Values
 * come from that code and are checked here. They act for the caller of the run, or without permissions, as granted. A
 * Refusal or a Failure: FORBIDDEN for all that is not granted, not permitted or not there.
 */
export interface ItemsApi {
  readMany(run: Invocation, collection: string, query?: unknown): Promise<Record<string, unknown>[]>;
  /** Null for a row that is not there or may not be read. */
  readOne(run: Invocation, collection: string, key: unknown, query?: unknown): Promise<Record<string, unknown> | null>;
  createOne(run: Invocation, collection: string, payload: unknown): Promise<Key>;
  createMany(run: Invocation, collection: string, payloads: unknown): Promise<Key[]>;
  updateOne(run: Invocation, collection: string, key: unknown, payload: unknown): Promise<Key>;
  updateMany(run: Invocation, collection: string, keys: unknown, payload: unknown): Promise<Key[]>;
  /** Null where nothing is refused and there was nothing to delete. */
  deleteOne(run: Invocation, collection: string, key: unknown): Promise<Key | null>;
  deleteMany(run: Invocation, collection: string, keys: unknown): Promise<Key[]>;
}

declare module '#kernel' {
  interface HostMembers {
    readonly items: ItemsApi;
  }
}

export type { Download, ExportFormatName, ReadExplanation, Route };
