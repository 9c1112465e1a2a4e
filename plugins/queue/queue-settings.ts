import type { JobQueueOptions } from './contract.ts';
import { JOB_HEARTBEAT_LIMIT } from './job-store.ts';

/** The longest wait between two retries, in seconds. */
const MAX_RETRY_DELAY = 3600;

const DAY = 86_400;

/** A waiting job is kept a year, so that a service that stood still for months loses none. */
const MAX_WAIT = 365 * DAY;

/** Options of a queue with their defaults. */
export type CompleteQueueOptions<Data> = Required<JobQueueOptions<Data>>;

/**
 * Adds the defaults.
 * @throws RangeError for a number that makes no sense.
 */
export function completeQueueOptions<Data>(options: JobQueueOptions<Data>): CompleteQueueOptions<Data> {
  const complete = {
    retries: 5,
    retryDelay: 5,
    timeout: 900,
    concurrency: 1,
    keepCompleted: 3600,
    keepFailed: 30 * DAY,
    ...options,
  };
  assertWholeNumber('retries', complete.retries, 0, 1000);
  assertWholeNumber('retryDelay', complete.retryDelay, 0, MAX_RETRY_DELAY);
  assertWholeNumber('timeout', complete.timeout, 1, DAY);
  assertWholeNumber('concurrency', complete.concurrency, 1, 100);
  assertWholeNumber('keepCompleted', complete.keepCompleted, 0, MAX_WAIT);
  assertWholeNumber('keepFailed', complete.keepFailed, 1, MAX_WAIT);
  return complete;
}

function assertWholeNumber(name: string, value: number, min: number, max: number): void {
  if (!Number.isInteger(value) || value < min || value > max)
    throw new RangeError(`"${name}" of a queue is a whole number from ${min} to ${max}, not ${value}.`);
}

/** The options of a queue for pg-boss. The policy `short` keeps one waiting job for each key. */
export const pgBossQueueOptions = ({ retries, retryDelay, timeout, keepFailed }: CompleteQueueOptions<never>) => ({
  retryLimit: retries,
  retryDelay,
  retryBackoff: true,
  retryDelayMax: MAX_RETRY_DELAY,
  expireInSeconds: timeout,
  heartbeatSeconds: JOB_HEARTBEAT_LIMIT,
  retentionSeconds: MAX_WAIT,
  deleteAfterSeconds: keepFailed,
});
