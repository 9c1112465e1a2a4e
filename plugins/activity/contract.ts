import { type Caller, service } from '#kernel';
import type { Collection, Field } from '../schema/contract.ts';

/**
 * A revision that nested rows name as their parent. The first statement that needs its id takes it from the database's
 * sequence, possibly before the revision is written.
 */
export interface RevisionSlot {
  id: number | null;
}

/** A row of a nested write, as one statement writes it. */
export interface RevisionPlace {
  /** The revision of this row. */
  readonly revision: RevisionSlot;
  /** The revision of the parent row; null at the root of the request. */
  readonly parent: RevisionSlot | null;
}

/** The rows of one statement, in their order; `keys` where the statement finds its rows by more than one key. */
export interface RevisionPlaces {
  readonly rows: readonly RevisionPlace[];
  readonly keys?: readonly (string | number)[];
}

/**
 * One statement that writes rows, as its history sees it: it has a CTE `changed` with the column `key` and those of
 * `HistorySql.returning`.
 */
export interface RecordedStatement {
  readonly action: 'create' | 'update' | 'delete';
  readonly collection: Collection;
  /** Fields that an update sets. */
  readonly sets?: readonly Field[];
  /** SQL of a column of the row under an alias as answers show it, with secrets masked. */
  readonly expression: (alias: string, field: Field) => string;
  /** Number of the first parameter of `bindHistory`. */
  readonly firstParameter: number;
  /** The rows are part of a nested write: `bindHistory` binds their revision places as well, in order or by key. */
  readonly nested?: 'in order' | 'by key';
  /** Nested rows are written later, so the revisions of these rows are written even where nothing changed. */
  readonly hasNestedRows?: boolean;
}

/**
 * SQL that a statement includes to record itself. It depends on the `RecordedStatement` alone, so callers may cache it.
 */
export interface HistorySql {
  /**
   * More columns of `changed`, a comma before each: over `t`, the row as written, and `b`, the row before an update.
   */
  readonly returning: string;
  /** `returning` reads `b`. */
  readonly readsBefore: boolean;
  /** CTEs that follow `changed`, a comma before each. */
  readonly ctes: string;
  /** CTE to read in place of `changed`: a row with a `key` for each row written. */
  readonly from: string;
  /** ` order by …` for aggregates over `from`. */
  readonly order: string;
  /** SQL of the JSON over all `n` that `HistoryParameters.settle` reads; empty where rows have no revision places. */
  readonly places: string;
}

/** The parameters of one recorded statement. */
export interface HistoryParameters {
  readonly values: readonly unknown[];
  /** Reads the ids from the JSON of `HistorySql.places` into the slots, for rows that are written later. */
  settle(places: Readonly<Record<string, unknown>>): void;
}

/** One row of activity that is not the write of a row. */
export interface ActivityEntry {
  /** `login`, `comment`, `run`, … */
  readonly action: string;
  /** Name of the collection that the action is about. */
  readonly collection: string;
  /** Key of the row that the action is about; truncated to 255 characters. */
  readonly item: string | number;
  readonly comment?: string | null;
}

/**
 * The history of the service: who did what, and the values of rows after each change (specification "Roles and
 * permissions", 2.8 and 2.9). Provided by `activity`.
 */
export interface Activity {
  /** What is recorded for this collection: activity and revisions, activity only, or nothing. */
  historyLevel(collection: Collection): 'all' | 'activity' | null;
  /**
   * SQL by which a statement records its changes itself: activity and revisions cost no round trip and exist if and
   * only if the change does. Only for collections with a history level.
   */
  historySql(step: RecordedStatement): HistorySql;
  /** The parameters of `historySql`: the actor, and the revision places of a nested write. */
  bindHistory(caller: Caller, places?: RevisionPlaces): HistoryParameters;
  /** Writes one row of activity in the open unit of work, or by itself without one. Returns its id. */
  record(caller: Caller, entry: ActivityEntry): Promise<number>;
}

/** Used by `items`, which records every write, and by plugins that record actions other than writes. */
export const activity = service<Activity>('activity', { version: '1.0.0', callers: { bindHistory: 0, record: 0 } });
