import { setTimeout as pause } from 'node:timers/promises';
import type { RunsUnderWay } from './runs-under-way.ts';

/** Runs that ended while the database was away, so that they are stored as running though this process lives. */
export interface UnrecordedEnds {
  /** Stores, as soon as the database is back, that the run is over. */
  add(run: string): void;
  stop(): void;
}

/** Milliseconds between two tries, and how long this process tries; the next start finds the rest, since their process has ended then. */
const DELAY = 5000;
const MAX_TRIES = 720;
const MAX_RUNS = 1000;

export function createUnrecordedEnds(underWay: Pick<RunsUnderWay, 'interrupt'>): UnrecordedEnds {
  const runs = new Set<string>();
  const stopping = new AbortController();
  let isTrying = false;

  async function tryAll(): Promise<void> {
    isTrying = true;
    for (let tries = 0; runs.size > 0 && tries < MAX_TRIES && !stopping.signal.aborted; tries++) {
      await pause(DELAY, undefined, { ref: false, signal: stopping.signal }).catch(() => {});
      for (const run of runs)
        await underWay.interrupt(run, 'its end could not be recorded').then(
          () => runs.delete(run),
          () => {},
        );
    }
    isTrying = false;
  }

  return {
    add(run) {
      if (runs.size < MAX_RUNS) runs.add(run);
      if (!isTrying) void tryAll();
    },
    stop: () => stopping.abort(),
  };
}
