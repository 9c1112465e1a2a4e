import type { Semaphore, WorkerJobOptions, WorkerJobOutcome, WorkerPool, WorkerPoolOptions } from './contract.ts';
import { createSemaphore } from './semaphore.ts';
import type { WorkerProcessOutcome } from './worker.ts';
import { WorkerProcessSet } from './worker-set.ts';

/** The error with which the semaphores of a stopped pool refuse callers. */
const STOPPED = new Error('The pool is stopped.');

/** Creates a pool of worker processes. */
export function createWorkerPool(options: WorkerPoolOptions): WorkerPool {
  const { processes, queue = Number.POSITIVE_INFINITY } = options;
  const workers = new WorkerProcessSet(options);
  const semaphore = (limit: number) => createSemaphore({ limit, refuse: () => STOPPED });
  const places = semaphore(processes);
  const lanes = new Map<string, Semaphore>(
    Object.entries(options.lanes ?? {}).map(([name, limit]) => [name, semaphore(limit)]),
  );
  let pending = 0;
  let stopped = false;

  async function attempt(job: object, jobOptions: WorkerJobOptions): Promise<WorkerProcessOutcome | 'stopped'> {
    if (stopped) return 'stopped';
    const worker = workers.acquire();
    const outcome = await worker.run(job, jobOptions);
    workers.release(worker);
    return outcome;
  }

  /** Runs a job that has its place among the running ones. */
  async function serve(job: object, jobOptions: WorkerJobOptions): Promise<WorkerJobOutcome> {
    await jobOptions.prepare?.();
    let outcome: WorkerProcessOutcome | 'stopped';
    try {
      outcome = await attempt(job, jobOptions);
      // A process that was gone before it had the job has not begun it, so another process gets the job.
      if (outcome === 'missed') outcome = await attempt(job, jobOptions);
    } catch {
      // The system has no room for another process or pipe.
      outcome = 'missed';
    }
    if (stopped && typeof outcome === 'string') return 'stopped';
    return outcome === 'missed' ? 'unstarted' : outcome;
  }

  function laneOf(name: string): Semaphore {
    const lane = lanes.get(name);
    if (!lane) throw new TypeError(`The pool has no lane ${name}.`);
    return lane;
  }

  return {
    async run(job, jobOptions) {
      if (stopped) return 'stopped';
      if (pending >= processes + queue) return 'full';
      pending++;
      const inPlace = () => places.run(() => serve(job, jobOptions));
      try {
        return await (jobOptions.lane === undefined ? inPlace() : laneOf(jobOptions.lane).run(inPlace));
      } catch (error) {
        if (error === STOPPED) return 'stopped';
        throw error;
      } finally {
        pending--;
      }
    },
    async stop() {
      stopped = true;
      for (const one of [places, ...lanes.values()]) one.close();
      await workers.stop();
    },
  };
}
