import type { Caller, EventsApi } from '#kernel';
import type { Access } from '../access/contract.ts';
import type { Activity } from '../activity/contract.ts';
import type { Db } from '../database/contract.ts';
import type { Query } from '../query/contract.ts';
import type { Schema } from '../schema/contract.ts';
import type { StatementCache } from './write/statement-cache.ts';

export interface Deps {
  readonly query: Query;
  readonly access: Access;
  readonly schema: Schema;
  readonly activity: Activity;
  readonly db: Db;
  /** Statements of small writes that come again. */
  readonly statements: StatementCache;
  readonly events: EventsApi;
  /** Sees every row: for finding rows that a write means without telling the caller about them. */
  readonly systemCaller: () => Caller;
  readonly hash: (text: string, caller: Caller) => Promise<string>;
  /** Rows one request may write; Infinity where there is no limit. */
  readonly maxMutations: number;
  /** Milliseconds that one write may take; 0 is no limit. */
  readonly timeout: number;
  /** Rows are written to find the one that the database refuses (`replay.ts`), and are rolled back. */
  readonly isReplay?: true;
  /** Asked before rows are written, nested ones included, where a writer is held to less than its caller is; throws. */
  readonly guard?: (collection: string, action: 'create' | 'update' | 'delete') => void;
}
