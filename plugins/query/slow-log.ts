import type { Log } from '#kernel';
import type { Prepared, Subjects } from './contract.ts';

/** Told of every read with the milliseconds the database took for it. */
export type RecordDuration = (prepared: Prepared, context: Subjects, ms: number) => void;

/** A line for each read that took at least `threshold` milliseconds; 0 is none. Values of the query are never in it. */
export const createSlowLog = (log: Log, threshold: number): RecordDuration =>
  threshold === 0
    ? () => {}
    : (prepared, { user, owner = null }, ms) => {
        // The shape is made by looking at it.
        if (ms >= threshold)
          log.warn({ ms: Math.round(ms), shape: prepared.shape, user, plugin: owner }, 'a slow read');
      };
