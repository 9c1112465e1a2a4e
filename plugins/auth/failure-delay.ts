import { setTimeout as pause } from 'node:timers/promises';

/** Delays failures to at least `time` milliseconds, so that guessing is slow and the duration reveals nothing. */
export async function delayFailures<T>(time: number, work: () => Promise<T>): Promise<T> {
  const started = performance.now();
  try {
    return await work();
  } catch (error) {
    const left = time - (performance.now() - started);
    if (left > 0) await pause(left);
    throw error;
  }
}
