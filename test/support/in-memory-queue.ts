import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Db } from '../../plugins/database/contract.ts';
import type { AddJobOptions, JobQueue, JobQueueOptions, QueueApi } from '../../plugins/queue/contract.ts';
import { PermanentJobError } from '../../plugins/queue/library.ts';

/** How a job of a queue in memory ended, or where it stands. */
export interface InMemoryJob {
  readonly id: string;
  readonly data: unknown;
  readonly options: AddJobOptions;
  attempt: number;
  state: 'waiting' | 'active' | 'completed' | 'failed' | 'cancelled';
  result?: unknown;
  /** The errors of its runs. */
  readonly errors: Error[];
}

export interface InMemoryQueues extends QueueApi {
  readonly jobs: readonly InMemoryJob[];
  /** Runs a job as a queue does whose process died before it recorded the end. */
  runLeftBehind(queue: string, job: { readonly id: string; readonly data: unknown }): Promise<unknown>;
  /** Runs the jobs that wait, and from then on each job as it is added. */
  start(): void;
  stop(): Promise<void>;
}

/** Retries come after milliseconds in place of seconds. */
const SECOND = 1;

/**
 * Queues in the memory of this process, for tests of what a job does. A job exists when the unit of work commits, retries are quick,
 * and nothing survives the process.
 */
export function createInMemoryQueues(db?: Pick<Db, 'afterCommit'>): InMemoryQueues {
  const jobs: InMemoryJob[] = [];
  const running = new Set<Promise<void>>();
  const stopped = new AbortController();
  const waiting: (() => void)[] = [];
  const defined = new Map<string, JobQueueOptions<unknown>>();
  let isStarted = false;

  async function run<Data>(queue: JobQueueOptions<Data>, job: InMemoryJob): Promise<void> {
    const { retries = 5, retryDelay = 5 } = { ...queue, ...job.options };
    const delay = (job.options.startAfter?.getTime() ?? 0) - Date.now();
    if (delay > 0) await pause(delay, undefined, { signal: stopped.signal });
    while (job.state === 'waiting' && !stopped.signal.aborted) {
      job.state = 'active';
      job.attempt += 1;
      try {
        const { id, attempt } = job;
        const queued = { id, data: job.data as Data, attempt, signal: stopped.signal, progress: () => {} };
        job.result = await queue.run(queued);
        job.state = 'completed';
      } catch (error) {
        job.errors.push(error as Error);
        job.state = error instanceof PermanentJobError || job.attempt > retries ? 'failed' : 'waiting';
        if (job.state === 'failed') queue.log.error({ err: error, job: job.id }, 'a job failed');
        else await pause(retryDelay * 2 ** (job.attempt - 1) * SECOND, undefined, { signal: stopped.signal });
      }
    }
  }

  return {
    jobs,
    async runLeftBehind(name, { id, data }) {
      const { signal } = stopped;
      return defined.get(name)?.run({ id, data, attempt: 2, signal, progress: () => {} });
    },
    define<Data>(queue: JobQueueOptions<Data>): JobQueue<Data> {
      defined.set(queue.name, queue as JobQueueOptions<unknown>);
      const isTaken = (key: string | undefined) =>
        key !== undefined && jobs.some(({ state, options }) => state === 'waiting' && options.key === key);
      const queueOfPlugin = {
        async add(data: Data, options: AddJobOptions = {}) {
          if (isTaken(options.key)) return null;
          const copy = JSON.parse(JSON.stringify(data));
          const job: InMemoryJob = { id: randomUUID(), data: copy, options, attempt: 0, state: 'waiting', errors: [] };
          const begin = () => {
            const work = run(queue, job)
              .catch(() => {})
              .finally(() => running.delete(work));
            running.add(work);
          };
          const enqueue = () => {
            jobs.push(job);
            if (isStarted) begin();
            else waiting.push(begin);
          };
          if (db) db.afterCommit(enqueue);
          else enqueue();
          return job.id;
        },
        async countUnfinished(limit: number, group?: string) {
          const isCounted = ({ state, options }: InMemoryJob) =>
            (state === 'waiting' || state === 'active') && (group === undefined || options.group === group);
          return Math.min(jobs.filter(isCounted).length, limit);
        },
        async cancel(id: string) {
          const job = jobs.find((one) => one.id === id && one.state === 'waiting');
          if (job) job.state = 'cancelled';
          return job !== undefined;
        },
        async state(id: string) {
          const state = jobs.find((one) => one.id === id)?.state;
          return state === 'active' ? 'running' : state;
        },
        async stop() {},
      };
      return queueOfPlugin;
    },
    start() {
      isStarted = true;
      for (const begin of waiting.splice(0)) begin();
    },
    async stop() {
      stopped.abort();
      await Promise.all(running);
    },
  };
}
