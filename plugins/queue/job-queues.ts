import type { Log } from '#kernel';
import type { InterProcessBus } from '../cluster/contract.ts';
import type { Db } from '../database/contract.ts';
import type { CurrentObserver } from '../telemetry/library.ts';
import type { JobQueue, JobQueueOptions } from './contract.ts';
import { createDueJobWatcher } from './due-jobs.ts';
import { createJobChanges, type JobChanges, QUEUE_CHANNEL, type QueueMessage } from './job-changes.ts';
import { QueueStop } from './job-errors.ts';
import type { JobList } from './job-list.ts';
import type { CreateJobProgressRecorder } from './job-progress.ts';
import type { JobStore } from './job-store.ts';
import { type CompleteQueueOptions, completeQueueOptions } from './queue-settings.ts';
import { createRunningJobs } from './running-jobs.ts';
import { createSingleQueue, type SingleQueue } from './single-queue.ts';

/** Milliseconds that running jobs get to end when their queue or the service stops. */
const STOP_LIMIT = 5000;

/** Milliseconds before workers that could not be started are tried again. */
const START_RETRY_DELAY = 10_000;

/** The queues of this process, by name. */
export interface JobQueues extends Pick<JobChanges, 'cancel' | 'retry'> {
  define<Data>(options: JobQueueOptions<Data>, owner: string): JobQueue<Data>;
  /** Names, owners and options of the defined queues. */
  list(): readonly DefinedQueue[];
  /** Starts to run jobs, where there are any in the database. */
  start(): Promise<void>;
  /** Runs no further job. */
  stopFetching(): void;
  /** Ends all runs. */
  stop(): Promise<void>;
}

export interface DefinedQueue {
  readonly owner: string;
  readonly options: CompleteQueueOptions<unknown>;
}

interface Deps {
  readonly db: Pick<Db, 'query'>;
  readonly bus: Pick<InterProcessBus, 'publish' | 'subscribe' | 'onReconnect'>;
  readonly store: JobStore;
  readonly list: Pick<JobList, 'state'>;
  readonly createProgress: CreateJobProgressRecorder;
  readonly observer: CurrentObserver;
  readonly log: Log;
}

export function createJobQueues(deps: Deps): JobQueues {
  const { bus, store, log } = deps;
  const queues = new Map<string, SingleQueue>();
  const running = createRunningJobs();
  const changes = createJobChanges({ bus, store });
  const watcher = createDueJobWatcher({
    store,
    queues: () => [...queues.keys()],
    wake: (name) => queues.get(name)?.wake(),
  });
  let isFetching = false;
  /** Starts the workers of all queues, or tries again later. */
  async function startWorkers(): Promise<void> {
    if (!isFetching) return;
    try {
      for (const queue of queues.values()) await queue.startWorkers();
      watcher.check();
    } catch (error) {
      log.error({ err: error }, 'the queue of jobs could not be started; it is tried again in ten seconds');
      setTimeout(() => void startIfInstalled(), START_RETRY_DELAY).unref();
    }
  }

  bus.subscribe(QUEUE_CHANNEL, (payload) => {
    const { queue: name, cancel, later } = payload as QueueMessage;
    if (cancel !== undefined) return running.abort(new Error('the job was cancelled'), name, cancel);
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
    // Where the database does not answer, `startWorkers` says so and tries again.
    if (await store.isInstalled().catch(() => true)) await startWorkers();
  }

  function stopFetching(): void {
    isFetching = false;
    watcher.stop();
    running.abort(new QueueStop('the service stops'));
    for (const queue of queues.values()) void queue.stopFetching();
  }

  return {
    define<Data>(queueOptions: JobQueueOptions<Data>, owner: string): JobQueue<Data> {
      const options = completeQueueOptions(queueOptions) as CompleteQueueOptions<unknown>;
      assertUndefined(queues, options.name);
      const queue = createSingleQueue({ ...deps, running, onWaiting: watcher.check }, options, owner);
      queues.set(options.name, queue);
      // A plugin that is loaded while the service runs.
      if (isFetching) void startIfInstalled();
      return createQueueHandle(queue, changes, deps, () => void queues.delete(options.name));
    },
    list: () => [...queues.values()],
    async start() {
      isFetching = true;
      await startIfInstalled();
    },
    stopFetching,
    async stop() {
      stopFetching();
      await store.close(STOP_LIMIT);
    },
    cancel: changes.cancel,
    retry: changes.retry,
  };
}

const createQueueHandle = <Data>(
  queue: SingleQueue,
  changes: JobChanges,
  { store, list }: Pick<Deps, 'store' | 'list'>,
  forget: () => void,
): JobQueue<Data> => ({
  add: (data, options = {}) => changes.add(queue, data, options),
  countUnfinished: queue.countUnfinished,
  cancel: (id) => changes.cancel(queue.options.name, id),
  // Without tables no job was ever added.
  state: async (id) => ((await store.isInstalled()) ? list.state(queue.options.name, id) : undefined),
  stop() {
    forget();
    return queue.stop(STOP_LIMIT);
  },
});

function assertUndefined(queues: ReadonlyMap<string, SingleQueue>, name: string): void {
  const defined = queues.get(name);
  if (defined) throw new RangeError(`The queue "${name}" is defined already, by ${defined.owner}.`);
}
