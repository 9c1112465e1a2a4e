import { type Caller, service } from '#kernel';
import type { Collection, Field } from '../schema/contract.ts';

/**
 * A revision of which others are part: rows written inside of it name it as their parent. Its id is taken from the
 * database's sequence by the first statement that needs it, which may run before the revision is written.
 */
export interface RevisionSlot {
  id: number | null;
}

/** A row that a step writes, where it is part of a nested write. */
export interface RevisionPlace {
  /** This row's own revision. */
  readonly revision: RevisionSlot;
  /** The revision of the row around it. */
  readonly parent: RevisionSlot | null;
}

/** The rows of one step, in their order; `keys` where the statement finds its rows by more than one key. */
export interface RevisionPlaces {
  readonly rows: readonly RevisionPlace[];
  readonly keys?: readonly (string | number)[];
}

/**
 * One statement that writes rows, as its record sees it: it has a CTE `changed` with the column `key` and those of
 * `Recorded.returning`.
 */
export interface RecordedStatement {
  readonly action: 'create' | 'update' | 'delete';
  readonly collection: Collection;
  /** Of an update: the fields it sets. */
  readonly sets?: readonly Field[];
  /** How a column of the row under an alias reads in answers, secrets masked. */
  readonly expression: (alias: string, field: Field) => string;
  /** The number of the first parameter of `bind`. */
  readonly firstParameter: number;
  /** The rows are part of a nested write: their places are bound as well, in order or by key. */
  readonly nested?: 'in order' | 'by key';
  /** Rows written later are part of these, so their revisions are written even where nothing changed. */
  readonly hasNestedRows?: boolean;
}

/** What a statement takes in to record itself. It depends on the step alone, so it may be remembered. */
export interface HistorySql {
  /** More columns of `changed`, a comma before each: over `t`, the row as written, and `b`, the row before an update. */
  readonly returning: string;
  /** `returning` reads `b`. */
  readonly readsBefore: boolean;
  /** CTEs to follow `changed`, a comma before each. */
  readonly ctes: string;
  /** To be read in place of `changed`: a row with a `key` for each row written. */
  readonly from: string;
  /** ` order by …` for aggregates over `from`. */
  readonly order: string;
  /** JSON of all `n`, for `Bound.settle`; empty where rows have no places. */
  readonly places: string;
}

/** The parameters of one recorded statement. */
export interface HistoryParameters {
  readonly values: readonly unknown[];
  /** Takes the ids out of what `Recorded.places` answered, for rows that are written later. */
  settle(places: Readonly<Record<string, unknown>>): void;
}

/** One row of activity that no statement records by itself. */
export interface ActivityEntry {
  /** `login`, `comment`, `run`, … */
  readonly action: string;
  /** Name of the collection it is about. */
  readonly collection: string;
  /** Key of the row it is about; cut at 255 characters. */
  readonly item: string | number;
  readonly comment?: string | null;
}

/** The history of the service: who did what, and what rows were like. Provided by `activity`. */
export interface Activity {
  /** What is recorded of this collection: activity and revisions, activity only, or nothing. */
  historyLevel(collection: Collection): 'all' | 'activity' | null;
  /**
   * The SQL by which a statement records what it does, in the statement itself: activity and revisions cost no round trip and
   * are there if and only if the change is. For collections of which anything is kept.
   */
  historySql(step: RecordedStatement): HistorySql;
  /** The parameters of `recorded`: who acts, and the places where the step is nested. */
  bindHistory(caller: Caller, places?: RevisionPlaces): HistoryParameters;
  /** Writes one row of activity in the current unit of work, or by itself where none is open; answers its id. */
  record(caller: Caller, entry: ActivityEntry): Promise<number>;
}

/** Used by `items`, which records every write, and by plugins that record what is no write. */
export const activity = service<Activity>('activity', { version: '1.0.0', callers: { bindHistory: 0, record: 0 } });
