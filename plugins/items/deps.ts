import type { Caller, EventsApi } from '#kernel';
import type { AccessControl } from '../access/contract.ts';
import type { HistoryRecorder } from '../activity/contract.ts';
import type { Db } from '../database/contract.ts';
import type { QueryEngine } from '../query/contract.ts';
import type { SchemaService } from '../schema/contract.ts';
import type { FindOrCacheWriteStatement } from './write/statement-cache.ts';

export interface ItemsEngineDeps {
  readonly query: QueryEngine;
  readonly access: AccessControl;
  readonly schema: SchemaService;
  readonly activity: HistoryRecorder;
  readonly db: Db;
  /** Cached statements of small writes. */
  readonly statements: FindOrCacheWriteStatement;
  readonly events: EventsApi;
  /** A caller that sees every row: finds the rows that a write selects without showing them to the writer. */
  readonly systemCaller: () => Caller;
  readonly hash: (text: string, caller: Caller) => Promise<string>;
  /** Largest number of rows that one request may write; Infinity for no limit. */
  readonly maxMutations: number;
  /** Milliseconds that one write may take; 0 for no limit. */
  readonly timeout: number;
  /** The rows are written to find the one that the database rejects (`write/replay-refused-write.ts`), and are rolled back. */
  readonly isReplay?: true;
  /**
   * Asserts that the writer may write these rows, nested ones included, where it may do less than its caller. Throws a
   * Failure.
   */
  readonly guard?: (collection: string, action: 'create' | 'update' | 'delete') => void;
}
