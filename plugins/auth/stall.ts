import { setTimeout as pause } from 'node:timers/promises';

/** Makes failures take at least this long, so that guessing is slow and the time taken tells nothing. */
export async function stallFailures<T>(time: number, work: () => Promise<T>): Promise<T> {
  const started = performance.now();
  try {
    return await work();
  } catch (error) {
    const left = time - (performance.now() - started);
    if (left > 0) await pause(left);
    throw error;
  }
}
