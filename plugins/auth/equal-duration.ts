import { setTimeout as pause } from 'node:timers/promises';

/** Milliseconds: a shorter time would leave differences of the work visible. */
const SHORTEST = 100;

/**
 * Answers no earlier than after `time` milliseconds, and after a multiple of it where the work takes longer, for success and failure
 * alike: the duration of an answer does not show what the work has found, such as whether a user exists.
 */
export async function withEqualDuration<T>(time: number, work: () => Promise<T>): Promise<T> {
  const unit = Math.max(time, SHORTEST);
  const started = performance.now();
  try {
    return await work();
  } finally {
    const taken = performance.now() - started;
    await pause(Math.ceil(taken / unit) * unit - taken);
  }
}
