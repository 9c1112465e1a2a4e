import { fail, type Log } from '#kernel';
import type { InterProcessBus } from '../cluster/contract.ts';
import type { Db } from '../database/contract.ts';
import type { AddJobOptions, JobQueue, JobQueueOptions } from './contract.ts';
import { createDueJobWatcher, type DueJobWatcher } from './due-jobs.ts';
import type { CreateJobProgressRecorder } from './job-progress.ts';
import { JOB_SCHEMA, type JobStore } from './job-store.ts';
import { type CompleteQueueOptions, completeQueueOptions } from './queue-settings.ts';
import { createRunningJobs } from './running-jobs.ts';
import { createSingleQueue, type SingleQueue } from './single-queue.ts';

/** The bus channel of added and cancelled jobs. */
const CHANNEL = 'queue';

/** Milliseconds that running jobs get to end when their queue or the service stops. */
const STOP_LIMIT = 5000;

const MAX_DATA_LENGTH = 1024 * 1024;

const START_NOW = `update ${JOB_SCHEMA}.job set start_after = now() where name = $1 and id = any($2::uuid[]) and state = 'retry'`;

/** A message on the bus. Without `cancel` a job was added, to run later where `later` is true. */
interface QueueMessage {
  readonly queue: string;
  readonly cancel?: string;
  readonly later?: boolean;
}

/** The queues of this process, by name. */
export interface JobQueues {
  define<Data>(options: JobQueueOptions<Data>, owner: string): JobQueue<Data>;
  /** Names, owners and options of the defined queues. */
  list(): readonly DefinedQueue[];
  /** Starts to run jobs, where there are any in the database. */
  start(): Promise<void>;
  /** Runs no further job. */
  stopFetching(): void;
  /** Ends all runs. */
  stop(): Promise<void>;
  /** Cancels a job of any queue of the database; false where it has ended or is unknown. */
  cancel(queue: string, job: string): Promise<boolean>;
  /** Makes dead letters run again. Answers how many. */
  retry(queue: string, jobs: readonly string[]): Promise<number>;
}

export interface DefinedQueue {
  readonly owner: string;
  readonly options: CompleteQueueOptions<unknown>;
}

interface Deps {
  readonly db: Pick<Db, 'query'>;
  readonly bus: Pick<InterProcessBus, 'publish' | 'subscribe' | 'onReconnect'>;
  readonly store: JobStore;
  readonly createProgress: CreateJobProgressRecorder;
  readonly log: Log;
}

export function createJobQueues(deps: Deps): JobQueues {
  const { bus, store, log } = deps;
  const queues = new Map<string, SingleQueue>();
  const running = createRunningJobs();
  const watcher: DueJobWatcher = createDueJobWatcher({
    store,
    queues: () => [...queues.keys()],
    wake: (name) => queues.get(name)?.wake(),
  });
  let isFetching = false;

  /** Starts the workers of all queues; where the database is away, the next message or look is the retry. */
  async function startWorkers(): Promise<void> {
    if (!isFetching) return;
    try {
      for (const queue of queues.values()) await queue.startWorkers();
      watcher.check();
    } catch (error) {
      log.error({ err: error }, 'the queue of jobs could not be started; it is tried again with the next job');
    }
  }

  bus.subscribe(CHANNEL, (payload) => {
    const { queue: name, cancel, later } = payload as QueueMessage;
    if (cancel !== undefined) return running.abort('the job was cancelled', name, cancel);
    const queue = queues.get(name);
    if (!queue || !isFetching) return;
    if (!queue.hasWorkers()) void startWorkers();
    else if (later) watcher.check();
    else queue.wake();
  });
  // A message of a job may have been missed.
  bus.onReconnect(() => void startIfInstalled());

  async function startIfInstalled(): Promise<void> {
    if (!isFetching || queues.size === 0) return;
    const found = await store.isInstalled().catch(() => false);
    if (found) await startWorkers();
  }

  async function add(queue: SingleQueue, data: unknown, options: AddJobOptions): Promise<string | null> {
    const { name } = queue.options;
    const { length } = JSON.stringify(data ?? null);
    if (length > MAX_DATA_LENGTH)
      throw fail(
        'INVALID_PAYLOAD',
        `A job of the queue "${name}" has ${length} characters of JSON; at most ${MAX_DATA_LENGTH} fit.`,
      );
    const id = await queue.send(data, options);
    if (id !== null) await bus.publish(CHANNEL, { queue: name, later: options.startAfter !== undefined });
    return id;
  }

  async function cancel(queue: string, job: string): Promise<boolean> {
    const boss = await store.open();
    const { affected } = (await boss.cancel(queue, job)) as { affected?: number };
    await bus.publish(CHANNEL, { queue, cancel: job });
    return (affected ?? 0) > 0;
  }

  return {
    define<Data>(given: JobQueueOptions<Data>, owner: string): JobQueue<Data> {
      const options = completeQueueOptions(given) as CompleteQueueOptions<unknown>;
      const { name } = options;
      if (queues.has(name))
        throw new RangeError(`The queue "${name}" is defined already, by ${queues.get(name)?.owner}.`);
      const queue = createSingleQueue({ ...deps, running, onFailure: watcher.check }, options, owner);
      queues.set(name, queue);
      // A plugin that is loaded while the service runs.
      if (isFetching) void startIfInstalled();
      return {
        add: (data, addOptions = {}) => add(queue, data, addOptions),
        cancel: (id) => cancel(name, id),
        async stop() {
          queues.delete(name);
          await queue.stop(STOP_LIMIT);
        },
      };
    },
    list: () => [...queues.values()],
    async start() {
      isFetching = true;
      await startIfInstalled();
    },
    stopFetching() {
      isFetching = false;
      watcher.stop();
      running.abort('the service stops');
      for (const queue of queues.values()) void queue.stopFetching();
    },
    async stop() {
      isFetching = false;
      watcher.stop();
      running.abort('the service stops');
      await store.close(STOP_LIMIT);
    },
    cancel,
    async retry(queue, jobs) {
      const boss = await store.open();
      const { affected } = (await boss.retry(queue, [...jobs])) as { affected?: number };
      // pg-boss leaves a dead letter the delay of the retry that it did not have.
      await store.query(START_NOW, [queue, jobs]);
      await bus.publish(CHANNEL, { queue });
      return affected ?? 0;
    },
  };
}
