import { service } from '#kernel';

/** What a statement did to rows of a table. */
export interface AnnouncedChange {
  /** Unique, and equal in all processes. Ids have no order; the order of changes is that in which they arrive. */
  readonly id: string;
  /** The oid of the table whose rows changed: the watched one, or one of its partitions and children. */
  readonly relation: number;
  /**
   * `many`: too many rows to name, all of them by `truncate`, or unknown ones from before the table was watched. `mark`: no change, but the answer to `RowFeed.mark` of any process.
   */
  readonly event: 'create' | 'update' | 'delete' | 'many' | 'mark';
  /** Keys of the rows after a create or an update. */
  readonly keys: readonly RowKey[];
  /** Rows that are gone by their key: those that a `delete` removed, and those whose key an `update` changed. */
  readonly goneRows: readonly OldRow[];
  /** All rows before an update, where a process watches the table `withOldRows`. */
  readonly oldRows: readonly OldRow[];
  /** Size of the message, for bounds of memory. */
  readonly bytes: number;
}

/** A row as it was before a statement. */
export interface OldRow {
  readonly key: RowKey;
  /** JSON text of the object that `to_jsonb` makes of the row. */
  readonly text: string;
}

/** The columns of a key as texts, in their order. Null for a null column. */
export type RowKey = readonly (string | null)[];

/** What announces the changes of a table. */
export interface WatchResult {
  /** Oids of the table and its partitions and children. */
  readonly relations: readonly number[];
  /** Names the triggers: another text means that they were created anew. */
  readonly triggers: string;
}

/** A table to watch. */
export interface WatchedTable {
  /** Quoted name with schema. */
  readonly table: string;
  /** Names of the columns of the key. */
  readonly keyColumns: readonly string[];
  /** Also announces the rows before an update. */
  readonly withOldRows: boolean;
}

/**
 * The service `rowFeed`: announces changed rows with their keys, whichever client of the database changes them, to all processes in the
 * order of their commits. Triggers exist on watched tables only, and are removed a while after the last process stopped watching.
 */
export interface RowFeed {
  /**
   * Starts the feed; call it once. `onChange` is called in the order of commits. `onGap`: changes may have been missed, all that was
   * known of positions is void. After a gap tables have to be watched again.
   */
  listen(handlers: { onChange(change: AnnouncedChange): void; onGap(): void }): Promise<void>;
  /**
   * Resolves when each change that commits from now on is announced. Where changes before were not, `many` is announced to all processes
   * and has arrived at this one (where messages arrive within a second). A table that is watched already is checked: other `triggers` than
   * before mean that changes in between were not announced.
   * @throws INVALID_PAYLOAD for a table whose changes cannot be announced, SERVICE_UNAVAILABLE where it stays locked or the database is not
   * reached.
   */
  watch(table: WatchedTable): Promise<WatchResult>;
  /** The table is no longer needed by this process. */
  unwatch(table: string): void;
  /** Announces a `mark`, so that processes have an id in common. @throws SERVICE_UNAVAILABLE */
  mark(): Promise<void>;
  /** Removes all triggers, needed or not. Answers how many there were. @throws the error of PostgreSQL for a locked table. */
  removeTriggers(): Promise<number>;
  /** Stops the feed, and removes triggers that no other process needs. */
  stop(): Promise<void>;
}

/** For the plugin that tells clients of changes: it learns the keys of all rows, and whole rows that were deleted. */
export const rowFeed = service<RowFeed>('rowFeed', { version: '1.0.0', coreOnly: true });
