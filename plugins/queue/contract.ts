import { authorities, facet, type Log } from '#kernel';
import type { OperationObserver } from '../telemetry/contract.ts';
import { combineObservers } from '../telemetry/library.ts';

/** How a queue treats its jobs. */
export interface JobQueueOptions<Data> {
  /** The name of the queue, which the plugin's manifest grants (`"queue": ["mail"]`). */
  readonly name: string;
  /** How many times a failed job runs again before it is a dead letter. Default 5. */
  readonly retries?: number;
  /** Seconds before the first retry; each further one waits twice as long, at most an hour. Default 5. */
  readonly retryDelay?: number;
  /** Seconds that one run may take before it counts as failed and its signal aborts. Default 900. */
  readonly timeout?: number;
  /** Jobs of this queue that one process runs at a time. Default 1. */
  readonly concurrency?: number;
  /** Seconds that a completed or cancelled job is kept for the list of jobs. Default 3600. */
  readonly keepCompleted?: number;
  /** Seconds that a dead letter is kept. Default 30 days. */
  readonly keepFailed?: number;
  /** The log of the queue's owner, where each failed run is written. */
  readonly log: Pick<Log, 'warn' | 'error'>;
  /**
   * Runs one job, in one process at a time. Where that process dies, the job runs again in another one, so `run` must bear to be
   * repeated. The result, at most 64 kB of JSON, is shown with the job.
   * @throws PermanentJobError (of `library.ts`) where a retry is useless; JobPostponement (of `library.ts`) where the job has to run
   * again at a later time; any other error is retried.
   */
  readonly run: (job: QueuedJob<Data>) => Promise<unknown>;
}

/** Where a job stands. `failed`: a dead letter, which runs again only when an admin retries it. */
export type JobState = 'waiting' | 'running' | 'completed' | 'failed' | 'cancelled';

/** One run of a job. */
export interface QueuedJob<Data> {
  /** The id of the job, a uuid, equal in all of its runs. */
  readonly id: string;
  /** What `add` was called with. */
  readonly data: Data;
  /** 1 for the first run, 2 for its first retry. */
  readonly attempt: number;
  /** Aborts when the job is cancelled, when its time is over, and when the service stops. */
  readonly signal: AbortSignal;
  /** Records how far the run is: a share from 0 to 1 and a short text. Calls in quick succession are written once. */
  progress(share: number, text?: string): void;
}

/** How one job is added. */
export interface AddJobOptions {
  /** The id of the job, a uuid that no other job has had. Default: a new one. */
  readonly id?: string;
  /** Jobs of a higher priority run first. Default 0. */
  readonly priority?: number;
  /** The earliest time of the first run. Default: now. */
  readonly startAfter?: Date;
  /** While a job with this key waits, another one is not added. */
  readonly key?: string;
  /** What `countUnfinished` counts the job for, such as an id, at most 100 characters. Shown with the job. */
  readonly group?: string;
  /** In place of `retries` of the queue, 0 to 1000. */
  readonly retries?: number;
  /** In place of `retryDelay` of the queue, in seconds. */
  readonly retryDelay?: number;
}

/** A queue of the plugin that defined it. */
export interface JobQueue<Data> {
  /**
   * Adds a job and resolves with its id; null where a job with the same `key` waits already. Inside a unit of work the job exists when
   * the unit commits, and never after a rollback.
   * @throws INVALID_PAYLOAD where `data` has more than 1 MB of JSON; SERVICE_UNAVAILABLE where the database is not reached.
   */
  add(data: Data, options?: AddJobOptions): Promise<string | null>;
  /**
   * How many jobs of a group have not ended, or of all that have a group; at most `limit`, where counting ends.
   * @throws SERVICE_UNAVAILABLE where the database is not reached.
   */
  countUnfinished(limit: number, group?: string): Promise<number>;
  /** Cancels a waiting or running job at once, whatever unit of work is open; false where it has ended or is unknown. */
  cancel(id: string): Promise<boolean>;
  /** Where a job stands; undefined where it is unknown or no longer kept. */
  state(id: string): Promise<JobState | undefined>;
  /**
   * Stops running jobs of this queue in this process: their signals abort, and those that have not ended within five seconds run again
   * elsewhere. For `host.onStop`. Never rejects.
   */
  stop(): Promise<void>;
}

/** The object that the capability `queue` binds as `host.queue`: the queues that the manifest names. */
export interface QueueApi {
  /**
   * Defines a queue while the plugin registers. Its jobs, also those that an earlier process left behind, run once the service has
   * started.
   * @throws CAPABILITY_DENIED where the manifest does not name the queue; RangeError where it is defined already.
   */
  define<Data>(options: JobQueueOptions<Data>): JobQueue<Data>;
}

declare module '#kernel' {
  interface HostMembers {
    readonly queue: QueueApi;
  }
}

/** Observers of the runs of background jobs. */
export const queueObservers = facet<OperationObserver, OperationObserver | undefined>('queue.observers', {
  combine: combineObservers,
  coreOnly: true,
  describe: () => authorities('listens to', ['runs'], 'of background jobs'),
});
