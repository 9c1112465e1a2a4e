import type { Log } from '#kernel';
import type { PreparedStatement, QueryExecutionContext } from './contract.ts';

/** Called after every read with the milliseconds the database worked. */
export type RecordDuration = (prepared: PreparedStatement, context: QueryExecutionContext, ms: number) => void;

/** Logs each read that took at least `threshold` milliseconds, without values of the query; 0 logs nothing. */
export const createSlowReadLog = (log: Log, threshold: number): RecordDuration =>
  threshold === 0
    ? () => {}
    : (prepared, { user, owner = null }, ms) => {
        // The getter renders the shape, so it is read only for a slow read.
        if (ms >= threshold)
          log.warn({ ms: Math.round(ms), shape: prepared.shape, user, plugin: owner }, 'a slow read');
      };
