import type { Log } from '#kernel';
import type { ScheduleTicks } from './schedule-ticks.ts';

/** Milliseconds until the first look, and at most between two looks. Each wait is twice as long as the one before. */
const FIRST_WAIT = 1000;
const MAX_WAIT = 10_000;

/** Takes over ticks of processes that die while they run them. */
export interface TakeOverWatch {
  /** Looks again and again, while another process runs a tick of the job. */
  start(): void;
  /** Looks once, now. */
  look(since: Date): Promise<void>;
  stop(): void;
}

interface Options {
  readonly name: string;
  /** Earlier ticks are none of this process's business: it was not up. */
  readonly since: Date;
  readonly ticks: Pick<ScheduleTicks, 'takeOver'>;
  readonly log: Pick<Log, 'error'>;
  readonly run: (tick: Date) => void;
}

export function createTakeOverWatch({ name, since, ticks, log, run }: Options): TakeOverWatch {
  let timer: NodeJS.Timeout | undefined;
  /** Whether `start` was called since the last look began, which may have missed the tick that it was called for. */
  let isDue = false;
  let stopped = false;

  async function look(from: Date): Promise<boolean> {
    const { taken, isWatched } = await ticks.takeOver(name, from);
    for (const tick of taken) run(tick);
    return isWatched;
  }

  function wait(delay: number): void {
    timer = setTimeout(async () => {
      isDue = false;
      // While the database is away nothing is known of the other process.
      const goesOn = await look(since).catch((error) => {
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
    async look(from) {
      await look(from);
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
