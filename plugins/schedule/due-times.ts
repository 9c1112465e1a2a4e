import { Cron } from 'croner';
import type { ScheduledJob } from './contract.ts';

/** The due times of a job. */
export interface DueTimes {
  /** The first due time after a moment; null where there is none. */
  next(after: Date): Date | null;
  /** The last due time at a moment or before; null where there is none. */
  previous(before: Date): Date | null;
}

/** The last `count` due times after `after` and at `until` or before, in their order. */
export function dueTimesBetween({ previous }: Pick<DueTimes, 'previous'>, after: Date, until: Date, count: number) {
  const found: Date[] = [];
  for (let tick = previous(until); tick && tick > after && found.length < count; ) {
    found.unshift(tick);
    tick = previous(new Date(tick.getTime() - 1));
  }
  return found;
}

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
 * Creates the due times of a job.
 * @throws RangeError where `at` is no cron expression and no positive interval.
 */
export function createDueTimes({ at, scope }: Pick<ScheduledJob, 'at' | 'scope'>): DueTimes {
  if (typeof at === 'string') {
    const cron = parseCron(at);
    if (!cron) throw new RangeError(`"${at}" is no cron expression of five or six positions.`);
    return {
      next: (after) => cron.nextRun(after),
      // croner answers times before the moment only, and all of them are whole seconds.
      previous: (before) => cron.previousRuns(1, new Date((Math.floor(before.getTime() / 1000) + 1) * 1000))[0] ?? null,
    };
  }
  const { every } = at;
  if (!(every > 0 && Number.isFinite(every))) throw new RangeError(`${every} is no interval in milliseconds.`);
  // Cluster ticks follow the clock, equal in all processes; process ticks follow the start, so that processes do not run together.
  const start = scope === 'process' ? Date.now() : 0;
  const previous = (before: Date) => start + Math.floor((before.getTime() - start) / every) * every;
  return {
    next: (after) => new Date(previous(after) + every),
    previous: (before) => new Date(previous(before)),
  };
}
