import { Cron } from 'croner';
import type { ScheduledJob } from './contract.ts';

/** Finds the first due time of a job after a moment; null where there is none. */
export type FindNextDueTime = (after: Date) => Date | null;

/** Parses a cron expression of five positions, or of six with seconds first; undefined for any other text. */
function parseCron(pattern: string): Cron | undefined {
  try {
    return new Cron(pattern.trim(), { paused: true, mode: '5-or-6-parts' });
  } catch {
    return undefined;
  }
}

export const isCronExpression = (text: string): boolean => parseCron(text) !== undefined;

/**
 * Creates the function that finds the next due time of a job.
 * @throws RangeError where `at` is no cron expression and no positive interval.
 */
export function createNextDueTimeFinder({ at, scope }: Pick<ScheduledJob, 'at' | 'scope'>): FindNextDueTime {
  if (typeof at === 'string') {
    const cron = parseCron(at);
    if (!cron) throw new RangeError(`"${at}" is no cron expression of five or six positions.`);
    return (after) => cron.nextRun(after);
  }
  const { every } = at;
  if (!(every > 0 && Number.isFinite(every))) throw new RangeError(`${every} is no interval in milliseconds.`);
  // Cluster ticks follow the clock, equal in all processes; process ticks follow the start, so that processes do not run together.
  const start = scope === 'process' ? Date.now() : 0;
  return (after) => new Date(start + (Math.floor((after.getTime() - start) / every) + 1) * every);
}
