import { JOB_SCHEMA, type JobStore } from './job-store.ts';

/** The longest wait between two looks, in milliseconds: jobs that another process gave back are found by it. */
const MAX_WAIT = 30_000;

/** Wakes queues when the time of their waiting jobs comes. */
export interface DueJobWatcher {
  /** Looks now: a job was added, failed, or is to run later. */
  check(): void;
  stop(): void;
}

interface Deps {
  readonly store: Pick<JobStore, 'query'>;
  /** The queues that this process runs. */
  readonly queues: () => readonly string[];
  readonly wake: (queue: string) => void;
}

/** How long each queue has until its first waiting job is due, in milliseconds; zero or less for one that is due. */
const FIND = `select name, (extract(epoch from min(start_after) - now()) * 1000)::float8 as delay
  from ${JOB_SCHEMA}.job where state in ('created', 'retry') and name = any($1) group by name`;

/** Creates a watcher with one timer for all queues of the process. It looks when asked, when a job is due, and twice a minute. */
export function createDueJobWatcher({ store, queues, wake }: Deps): DueJobWatcher {
  let timer: NodeJS.Timeout | undefined;
  let looking = false;
  let isOutdated = false;
  let stopped = false;

  async function look(): Promise<number> {
    const rows = await store.query<{ name: string; delay: number }>(FIND, [queues()]);
    for (const { name, delay } of rows) if (delay <= 0) wake(name);
    return Math.min(MAX_WAIT, ...rows.map(({ delay }) => Math.max(delay, 0)).filter((delay) => delay > 0));
  }

  async function check(): Promise<void> {
    if (looking) {
      isOutdated = true;
      return;
    }
    looking = true;
    clearTimeout(timer);
    let delay = MAX_WAIT;
    do {
      isOutdated = false;
      // While the database is away the next look is the retry.
      delay = await look().catch(() => MAX_WAIT);
    } while (isOutdated && !stopped);
    looking = false;
    if (!stopped) timer = setTimeout(() => void check(), Math.ceil(delay)).unref();
  }

  return {
    check: () => void check(),
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
