import type { JobWithMetadata, PgBoss, WorkOptions } from 'pg-boss';
import { isPostponed } from './postpone-job.ts';
import type { CompleteQueueOptions } from './queue-settings.ts';
import { createJobRunner, type JobRunnerDeps } from './run-job.ts';

/** Seconds between heartbeats of a running job. */
const HEARTBEAT_INTERVAL = 5;

/** Seconds between two fetches that nothing caused: `createDueJobWatcher` wakes the workers. */
const POLL_INTERVAL = 3600;

const WORKER_OPTIONS = {
  batchSize: 1,
  includeMetadata: true,
  perJobResults: true,
  pollingIntervalSeconds: POLL_INTERVAL,
  heartbeatRefreshSeconds: HEARTBEAT_INTERVAL,
} as const satisfies WorkOptions;

interface Deps extends JobRunnerDeps {
  readonly boss: PgBoss;
  /** Called after a failed or postponed run: the job may have to run again soon. */
  readonly onWaiting: () => void;
}

/** The workers of one queue in this process: as many as jobs may run at a time. */
export interface QueueWorkers {
  /** Makes idle workers fetch jobs. */
  wake(): void;
  /** Ends fetching; running jobs go on. */
  stop(): Promise<void>;
}

/** Starts the workers of a queue. Each fetches one job after the other until none is due, and then waits for `wake`. */
export async function startQueueWorkers<Data>(
  options: CompleteQueueOptions<Data>,
  { boss, onWaiting, ...deps }: Deps,
): Promise<QueueWorkers> {
  const { name, concurrency } = options;
  const run = createJobRunner(options, deps);
  const ids: string[] = [];

  async function startWorker(): Promise<void> {
    let id = '';
    id = await boss.work<Data, unknown, typeof WORKER_OPTIONS>(
      name,
      WORKER_OPTIONS,
      async (jobs: JobWithMetadata<Data>[]) => {
        const results = await Promise.all(jobs.map(run));
        // Without this a worker would wait for its next poll, though more jobs may be due.
        boss.notifyWorker(id);
        // pg-boss stores the results when this function has returned, on a connection that runs one statement at a time.
        if (results.some(({ status }) => status === 'failed') || jobs.some(isPostponed)) setImmediate(onWaiting);
        return results;
      },
    );
    ids.push(id);
  }
  for (let worker = 0; worker < concurrency; worker++) await startWorker();

  return {
    wake() {
      for (const id of ids) boss.notifyWorker(id);
    },
    async stop() {
      await boss.offWork(name, { wait: false });
    },
  };
}
