/** The runs of this process by job, so that a job that is cancelled at any process ends here at once. */
export interface RunningJobs {
  /** Runs `work` with a signal that aborts with `ended`, and by `abort`. */
  run<T>(queue: string, job: string, ended: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Aborts the run of one job, or all runs of a queue, or all of them. */
  abort(reason: Error, queue?: string, job?: string): void;
  /** Resolves when the current runs of a queue have ended, or after `limit` milliseconds. */
  waitForEnd(queue: string, limit: number): Promise<void>;
}

interface Run {
  readonly queue: string;
  readonly job: string;
  readonly stop: AbortController;
  readonly ended: Promise<unknown>;
}

export function createRunningJobs(): RunningJobs {
  const runs = new Set<Run>();
  return {
    async run(queue, job, ended, work) {
      const stop = new AbortController();
      const working = work(AbortSignal.any([ended, stop.signal]));
      const run: Run = { queue, job, stop, ended: working.catch(() => {}) };
      runs.add(run);
      try {
        return await working;
      } finally {
        runs.delete(run);
      }
    },
    abort(reason, queue, job) {
      for (const run of runs)
        if ((queue === undefined || run.queue === queue) && (job === undefined || run.job === job))
          run.stop.abort(reason);
    },
    async waitForEnd(queue, limit) {
      const late = Promise.withResolvers<void>();
      const timer = setTimeout(late.resolve, limit);
      const ends = [...runs].filter((run) => run.queue === queue).map((run) => run.ended);
      await Promise.race([Promise.all(ends), late.promise]);
      clearTimeout(timer);
    },
  };
}
