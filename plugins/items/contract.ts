import { type Caller, type Invocation, service } from '#kernel';
import type { Route } from '../http/contract.ts';
import type { GivenValues, GroupSelection, RawQuery, ReadText, Selection, Stream } from '../query/contract.ts';
import type { Explained } from './read/explain.ts';
import type { Download } from './read/export/download.ts';
import type { FormatName } from './read/export/formats.ts';

export type Key = string | number;
export type Payload = Record<string, unknown>;

/**
 * Verbs over any collection, system collections included. Every verb takes the caller first and applies the caller's
 * permissions; `host.asSystem(reason)` is the only caller without any. Events fire as the conventions say: generic and
 * scoped names for user collections, `<name>.<verb>` for system ones. Writes are one unit of work each and join an
 * open one.
 */
export interface Items {
  /** List read; `meta` where the query asks for it. Singletons answer an object. */
  readMany(caller: Caller, collection: string, query: RawQuery): Promise<ReadText>;
  /** One row; FORBIDDEN where it does not exist or may not be read. */
  readOne(caller: Caller, collection: string, key: unknown, query?: RawQuery): Promise<ReadText>;
  /** The rows of these keys that the caller may read, in the order of the keys. */
  readKeys(caller: Caller, collection: string, keys: readonly unknown[], query?: RawQuery): Promise<ReadText>;
  /** `readMany` for those who can take it in parts: what may be long and is comes as a stream, all else as text. */
  stream(caller: Caller, collection: string, query: RawQuery): Promise<ReadText | Stream>;
  /**
   * A read said field by field, answered in exactly that form: `null` where a row by key is not there or may not be read
   * is FORBIDDEN here too. Listeners of the collection are told of it in the form of REST.
   */
  select(caller: Caller, collection: string, asked: Selecting): Promise<ReadText | Stream>;
  /** The rows of a list read (or of `keys`) as a file, made while it is read. Limits are those of the query. */
  export(
    caller: Caller,
    collection: string,
    format: FormatName,
    query: RawQuery,
    keys?: readonly unknown[],
  ): Promise<Download>;
  /** How `readMany`, or with a key `readOne`, would be run. No value is in it, but it tells about row rules. */
  explain(caller: Caller, collection: string, query: RawQuery, key?: unknown): Promise<Explained>;
  /** Parsed rows, for code. No default limit. */
  rows<Row = Record<string, unknown>>(caller: Caller, collection: string, query: RawQuery): Promise<Row[]>;
  /** INVALID_QUERY for a query that makes no sense, FORBIDDEN for an unknown name in it; nothing is read, nobody is told. */
  checkQuery(caller: Caller, collection: string, query: RawQuery): Promise<void>;
  createOne(caller: Caller, collection: string, payload: Payload, options?: WriteOptions): Promise<Key>;
  createMany(caller: Caller, collection: string, payloads: readonly Payload[]): Promise<Key[]>;
  updateOne(caller: Caller, collection: string, key: unknown, payload: Payload, options?: WriteOptions): Promise<Key>;
  /** The same change to several rows; one that may not be updated fails all. */
  updateMany(caller: Caller, collection: string, keys: readonly unknown[], payload: Payload): Promise<Key[]>;
  /** Each row its own change; every payload contains the primary key. */
  updateEach(caller: Caller, collection: string, payloads: readonly Payload[]): Promise<Key[]>;
  updateByQuery(caller: Caller, collection: string, query: RawQuery, payload: Payload): Promise<Key[]>;
  /** Creates the row of a singleton or changes it. */
  upsertSingleton(caller: Caller, collection: string, payload: Payload): Promise<Key>;
  deleteMany(caller: Caller, collection: string, keys: readonly unknown[]): Promise<Key[]>;
  deleteByQuery(caller: Caller, collection: string, query: RawQuery): Promise<Key[]>;
}

export interface WriteOptions {
  /** Values the platform sets: they stand whatever the payload says, count for validation and need no grant of the caller. */
  readonly given?: Payload;
}

/** The selection is only made where no compiled statement is remembered for its text. */
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
  /** `long`: what may be long and is comes as a stream. */
  readonly inParts?: 'long';
}

export const items = service<Items>('items', { version: '1.0.0' });

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

/**
 * The full set of routes for one system collection (list, SEARCH, read, create, update, delete in all shapes), for a
 * plugin that serves it at its own path: `for (const route of collectionRoutes(items, '/roles', 'platform_roles')) …`.
 */
export { collectionRoutes } from './collection-routes.ts';
/** What such routes check before they write and answer afterwards, for routes of other shapes. */
export { checkShape, sendWritten } from './written.ts';
export type { Download, Explained, FormatName, Route };
