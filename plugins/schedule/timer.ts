import { AsyncLocalStorage } from 'node:async_hooks';
import type { DueTimes } from './due-times.ts';

/** The longest delay of setTimeout; longer waits are split. */
const LONGEST_DELAY = 2 ** 31 - 1;

/** A job may be started during a request, but its runs must not have the asynchronous context of that request. */
const runOutsideRequest = AsyncLocalStorage.snapshot();

/** Calls `onTick` at each due time, one after the other; returns the function that stops the timer. */
export function startTickTimer({ next }: Pick<DueTimes, 'next'>, onTick: (tick: Date) => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  function wait(tick: Date | null): void {
    if (stopped || !tick) return;
    const left = tick.getTime() - Date.now();
    if (left > 0) {
      timer = setTimeout(() => wait(tick), Math.min(left, LONGEST_DELAY)).unref();
      return;
    }
    onTick(tick);
    wait(next(new Date()));
  }
  runOutsideRequest(() => wait(next(new Date())));

  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
