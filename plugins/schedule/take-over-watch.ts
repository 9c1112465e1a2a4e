import type { Log } from '#kernel';

/** Milliseconds until the first look, and at most between two looks. Each wait is twice as long as the one before. */
const FIRST_WAIT = 1000;
const MAX_WAIT = 10_000;

/** Looks for ticks that another process has left: it died while it ran them, or before it did. */
export interface TakeOverWatch {
  /** Looks again and again, as long as there is something to wait for. */
  start(): void;
  stop(): void;
}

interface Options {
  readonly name: string;
  readonly log: Pick<Log, 'error'>;
  /** Starts the runs of ticks that were left; whether another process still runs one, so that it is worth to look again. */
  readonly look: () => Promise<boolean>;
}

export function createTakeOverWatch({ name, log, look }: Options): TakeOverWatch {
  let timer: NodeJS.Timeout | undefined;
  /** Whether `start` was called since the last look began, which may have missed the tick that it was called for. */
  let isDue = false;
  let stopped = false;

  function wait(delay: number): void {
    timer = setTimeout(async () => {
      isDue = false;
      // While the database is away nothing is known of the other process.
      const goesOn = await look().catch((error) => {
        log.error({ err: error, schedule: name }, 'ticks of other processes cannot be read');
        return true;
      });
      timer = undefined;
      if (stopped) return;
      if (isDue) wait(FIRST_WAIT);
      else if (goesOn) wait(Math.min(2 * delay, MAX_WAIT));
    }, delay).unref();
  }

  return {
    start() {
      isDue = true;
      if (!timer && !stopped) wait(FIRST_WAIT);
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
