import { randomUUID } from 'node:crypto';
import type { Log } from '#kernel';
import type { Db } from '../database/contract.ts';
import type { CurrentObserver } from '../telemetry/library.ts';
import type { AddJobOptions, JobQueue } from './contract.ts';
import { QueueStop } from './job-errors.ts';
import type { CreateJobProgressRecorder } from './job-progress.ts';
import type { JobStore } from './job-store.ts';
import { createPostponeJob } from './postpone-job.ts';
import { type CompleteQueueOptions, pgBossQueueOptions } from './queue-settings.ts';
import { type QueueWorkers, startQueueWorkers } from './queue-workers.ts';
import type { RunningJobs } from './running-jobs.ts';
import { createUnfinishedJobCounter } from './unfinished-job-count.ts';

interface Deps {
  readonly db: Pick<Db, 'query'>;
  readonly store: JobStore;
  readonly running: RunningJobs;
  readonly createProgress: CreateJobProgressRecorder;
  readonly observer: CurrentObserver;
  readonly log: Log;
  readonly onWaiting: () => void;
}

/** One queue of this process. */
export interface SingleQueue {
  readonly owner: string;
  readonly options: CompleteQueueOptions<unknown>;
  /** Adds a job by a statement of the open unit of work, else by one of its own; null where its key is taken. */
  send(data: unknown, options: AddJobOptions): Promise<string | null>;
  countUnfinished: JobQueue<unknown>['countUnfinished'];
  hasWorkers(): boolean;
  /** Starts the workers once. */
  startWorkers(): Promise<void>;
  wake(): void;
  stopFetching(): Promise<void>;
  /** Ends fetching and the runs of this process, waiting `limit` milliseconds for them. */
  stop(limit: number): Promise<void>;
}

export function createSingleQueue(
  { db, store, running, createProgress, observer, onWaiting }: Deps,
  options: CompleteQueueOptions<unknown>,
  owner: string,
): SingleQueue {
  const { name } = options;
  const postpone = createPostponeJob(store);
  let declaring: Promise<void> | undefined;
  let starting: Promise<QueueWorkers> | undefined;
  let workers: QueueWorkers | undefined;

  /** Creates the queue in the database, or gives it the options of this version. */
  async function declareQueue(): Promise<void> {
    const boss = await store.open();
    const queueOptions = pgBossQueueOptions(options);
    await boss.createQueue(name, { ...queueOptions, policy: 'short' });
    await boss.updateQueue(name, queueOptions);
  }

  function ensureDeclared(): Promise<void> {
    declaring ??= declareQueue().catch((error) => {
      declaring = undefined;
      throw error;
    });
    return declaring;
  }

  async function start(): Promise<QueueWorkers> {
    await ensureDeclared();
    const boss = await store.open();
    return startQueueWorkers(options, { boss, owner, running, createProgress, postpone, observer, onWaiting });
  }

  return {
    owner,
    options,
    async send(data, { id, priority = 0, startAfter, key, group, retries, retryDelay }) {
      await ensureDeclared();
      const boss = await store.open();
      // Statements of `host.db` join the open unit of work.
      const unit = {
        executeSql: async (text: string, values?: unknown[]) => ({ rows: (await db.query(text, values)).rows }),
      };
      return boss.send(name, data as object, {
        priority,
        ...(id === undefined ? {} : { id }),
        ...(startAfter ? { startAfter } : {}),
        ...(group === undefined ? {} : { group: { id: group } }),
        ...(retries === undefined ? {} : { retryLimit: retries }),
        ...(retryDelay === undefined ? {} : { retryDelay }),
        // The policy of the queue keeps one waiting job for each key, so a job without a key gets one of its own.
        singletonKey: key === undefined ? randomUUID() : `key ${key}`,
        db: unit,
      });
    },
    countUnfinished: createUnfinishedJobCounter({ db, store }, name),
    hasWorkers: () => workers !== undefined,
    async startWorkers() {
      starting ??= start().catch((error) => {
        starting = undefined;
        throw error;
      });
      workers = await starting;
    },
    wake: () => workers?.wake(),
    async stopFetching() {
      await workers?.stop();
    },
    async stop(limit) {
      await workers?.stop();
      workers = undefined;
      running.abort(new QueueStop('the queue stops'), name);
      await running.waitForEnd(name, limit);
    },
  };
}
