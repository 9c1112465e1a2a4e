import { type Caller, service } from '#kernel';
import type { Collection, Field } from '../schema/contract.ts';

/**
 * A revision that nested rows name as their parent. The first statement that needs its id takes it from the database's
 * sequence, possibly before the revision is written.
 */
export interface PendingRevisionId {
  id: number | null;
}

/** A row of a nested write: its own revision and that of its parent row. */
export interface RowAndParentRevision {
  /** The revision of this row. */
  readonly revision: PendingRevisionId;
  /** The revision of the parent row; null at the root of the request. */
  readonly parent: PendingRevisionId | null;
}

/**
 * The revision places of the rows that one statement writes, in order; with `keys` where the statement finds its rows by more
 * than one key.
 */
export interface NestedWriteRevisions {
  readonly rows: readonly RowAndParentRevision[];
  readonly keys?: readonly (string | number)[];
}

/**
 * Describes a statement that writes rows and records them in the history. The statement has a CTE `changed` with the column `key`
 * and the columns of `HistorySql.returning`.
 */
export interface HistoryRecordedStatement {
  readonly action: 'create' | 'update' | 'delete';
  readonly collection: Collection;
  /** Fields that an update sets. */
  readonly sets?: readonly Field[];
  /** Renders the SQL of a field for an alias of the row, as answers show the field: secrets are masked. */
  readonly expression: (alias: string, field: Field) => string;
  /** Number of the first parameter of `bindHistory`. */
  readonly firstParameter: number;
  /** The rows are part of a nested write: `bindHistory` binds their revision places as well, in order or by key. */
  readonly nested?: 'in order' | 'by key';
  /** Nested rows are written later, so the revisions of these rows are written even where nothing changed. */
  readonly hasNestedRows?: boolean;
}

/**
 * SQL that a writing statement includes to record its changes in the history. It depends on the `HistoryRecordedStatement` alone, so
 * callers may cache it.
 */
export interface HistorySql {
  /**
   * Columns that `changed` must return beside `key`, with a comma before each. They read `t`, the row as written, and `b`, the
   * row before an update.
   */
  readonly returning: string;
  /** SQL of the column `data` in `returning`, the JSON of `t`; absent where the statement writes no revision. */
  readonly data?: string;
  /** Whether `returning` reads `b`, the row before an update. */
  readonly readsBefore: boolean;
  /** CTEs that follow `changed`, a comma before each. */
  readonly ctes: string;
  /** Name of the CTE to read in place of `changed`: it has a row with a `key` for each row written. */
  readonly from: string;
  /** ` order by …` for aggregates over `from`. */
  readonly order: string;
  /**
   * SQL of the JSON that `HistoryParameters.settle` reads, an aggregate over the rows `n` of `from`; empty where rows have no
   * revision places.
   */
  readonly places: string;
}

/** The parameters of one recorded statement. */
export interface HistoryParameters {
  readonly values: readonly unknown[];
  /** Reads the ids from the JSON of `HistorySql.places` into the slots, for rows that are written later. */
  settle(places: Readonly<Record<string, unknown>>): void;
}

/** A row of activity for an action other than the write of a row, such as a login. */
export interface ActivityEntry {
  /** `login`, `comment`, `run`, … */
  readonly action: string;
  /** Name of the collection that the action is about. */
  readonly collection: string;
  /** Key of the row that the action is about; truncated to 255 characters. */
  readonly item: string | number;
  readonly comment?: string | null;
  /** What a revision beside the row keeps, as JSON; without it there is no revision. */
  readonly revision?: unknown;
}

/**
 * The history of the service: who did what, and the values of rows after each change (specification "Roles and
 * permissions", 2.8 and 2.9). Provided by `activity`.
 */
export interface HistoryRecorder {
  /** What is recorded for this collection: activity and revisions, activity only, or nothing. */
  historyLevel(collection: Collection): 'all' | 'activity' | null;
  /**
   * SQL by which a statement records its changes itself: activity and revisions cost no round trip and exist if and
   * only if the change does. Only for collections with a history level.
   */
  historySql(step: HistoryRecordedStatement): HistorySql;
  /** The parameters of `historySql`: the actor, and the revision places of a nested write. */
  bindHistory(caller: Caller, places?: NestedWriteRevisions): HistoryParameters;
  /** Writes one row of activity, with its revision, in the open unit of work, or by itself without one. Returns its id. */
  record(caller: Caller, entry: ActivityEntry): Promise<number>;
}

/** Used by `items`, which records every write, and by plugins that record actions other than writes. */
export const activity = service<HistoryRecorder>('activity', {
  version: '1.0.0',
  callers: { bindHistory: 0, record: 0 },
});
