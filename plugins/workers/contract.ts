import { service } from '#kernel';

/** Limits of a worker process, for images or password hashes, which the operating system enforces where it supports them. */
export interface ProcessBounds {
  /** MiB of private memory (RLIMIT_DATA). */
  readonly data: number;
  /** Seconds of processor time after which the operating system ends the worker process. */
  readonly processor: number;
  /** The nice value: 0 to 19, the higher, the lower its priority. */
  readonly niceness: number;
  /** 0 to 1000: the higher, the sooner the system ends the process when the machine runs out of memory. */
  readonly outOfMemoryScore: number;
  /** Share of the service's processors that the process may run on, at least one of them; all by default. */
  readonly processors?: number;
}

/** The program of a pool and its limits. */
export interface WorkerPoolOptions {
  /** The module that each process runs. It sends `WorkerMessage`s and receives jobs, one at a time. */
  readonly program: URL;
  /** Arguments of the program; none by default. */
  readonly args?: readonly string[];
  /** Options of Node for each process, such as `--permission`; none by default. */
  readonly flags?: readonly string[];
  /** All environment variables of each process: those of the service are not passed on. Empty by default. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Without bounds a process may use what the service may use. */
  readonly bounds?: ProcessBounds;
  /** Processes at a time, at least 1. Each has one job at a time. */
  readonly processes: number;
  /** Jobs of one kind at a time, by the name of the kind: a kind that is slow leaves processes to the other kinds. */
  readonly lanes?: Readonly<Record<string, number>>;
  /** Jobs that may wait; without a limit by default. */
  readonly queue?: number;
  /** Milliseconds until a new process must be ready. */
  readonly startTimeout: number;
  /** Milliseconds without a job after which a process is ended. */
  readonly idleTimeout: number;
  /** Seconds of processor time after which a process is replaced when its job is done; never by default. */
  readonly replaceAfter?: number;
}

/**
 * What a process sends. It may work on hostile bytes, so the pool believes none of it: `note` and `reply` are JSON values that
 * the owner of the pool checks.
 */
export type WorkerMessage<Reply = unknown, Note = unknown> =
  /** Once, when the process can take jobs. */
  | 'ready'
  /** The process has the job. Where it ends before it sends this, another process gets the job. */
  | 'begun'
  /** A part of the result, before the job is done. */
  | { readonly note: Note }
  /** The end of the job. `spent`: seconds of processor time since the process started. */
  | { readonly reply: Reply; readonly spent?: number };

/**
 * How a job ended. `timeout`: not done in time, its process was killed. `crashed`: its process ended. `unstarted`: no process came
 * up. `full`: `queue` jobs wait already. `stopped`: the pool is stopped.
 */
export type WorkerJobOutcome = { readonly reply: unknown } | 'timeout' | 'crashed' | 'unstarted' | 'full' | 'stopped';

/** How one job is run. */
export interface WorkerJobOptions {
  /** Milliseconds that the job may take, from the moment a process has it. */
  readonly timeout: number;
  /** The kind of job, one of `lanes`; without a kind only `processes` limits it. */
  readonly lane?: string;
  /** Runs when it is the job's turn, before a process has the job. */
  readonly prepare?: () => Promise<void>;
  /** Receives the notes of the process. */
  readonly onNote?: (note: unknown) => void;
}

/** Processes that start with the first job that needs them, and end after `idleTimeout` without one. */
export interface WorkerPool {
  /**
   * Sends `job`, a JSON value, to a process when it is its turn: first in, first out within a lane.
   * @throws what `prepare` throws, and a TypeError where the pool has no such lane.
   */
  run(job: object, options: WorkerJobOptions): Promise<WorkerJobOutcome>;
  /** Kills all processes, with the jobs they have; resolves when the processes are gone, or after three seconds. */
  stop(): Promise<void>;
}

/**
 * Child processes for work that must not block, crash or take over the service. The plugin that opens a pool chooses the program and
 * its rights: it may do all that the operating system user of the service may do.
 */
export interface WorkerPoolService {
  /** Opens a pool for the calling plugin alone; it stops with the service at the latest. */
  pool(options: WorkerPoolOptions): WorkerPool;
}

/** The service that opens pools of worker processes, for work that may crash or block: `media` and `templates`. */
export const workers = service<WorkerPoolService>('workers', { version: '1.0.0' });

/** `full`: the queue has no room. `timeout`: the deadline passed. `closed`: `close` was called. */
export type SemaphoreRefusal = 'full' | 'timeout' | 'closed';

/** Limits of a semaphore. */
export interface SemaphoreOptions {
  /** Holders at a time, at least 1. */
  readonly limit: number;
  /** Milliseconds that `acquire` may wait; without a limit by default. */
  readonly deadline?: number;
  /** Callers that may wait; without a limit by default. */
  readonly queue?: number;
  /** Creates the error that `acquire` rejects with; a plain Error by default. */
  readonly refuse?: (reason: SemaphoreRefusal) => unknown;
}

/** Lets `limit` holders in at a time; the others wait, first in, first out. */
export interface Semaphore {
  /**
   * Resolves to the function that releases the place; calls after the first do nothing.
   * @throws the reason of `signal` when that aborts before there is a place, and what `refuse` makes.
   */
  acquire(signal?: AbortSignal): Promise<() => void>;
  /**
   * Holds a place while `work` runs; `work` begins within this call where there is a place.
   * @throws what `acquire` and `work` throw.
   */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Refuses all waiters and all later callers; holders keep their places. */
  close(): void;
  readonly held: number;
  readonly waiting: number;
}

/** One semaphore for each key, as long as the key has holders. */
export interface KeyedSemaphores {
  /**
   * Holds a place of `key` while `work` runs.
   * @throws what `Semaphore.run` throws.
   */
  run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Keys with holders. */
  readonly size: number;
}

/** Limits of a fair semaphore, in numbers of holders and waiters. */
export interface FairSemaphoreOptions {
  /** Holders at a time, of all keys together. */
  readonly limit: number;
  /** Holders at a time of one key. */
  readonly limitOfKey: number;
  /** Callers that may wait, of all keys together. */
  readonly queue: number;
  /** Callers of one key that may wait. */
  readonly queueOfKey: number;
  /** Milliseconds that a caller may wait. */
  readonly deadline: number;
  /** Creates the error with which `run` rejects a caller that gets no place. */
  readonly refuse: (reason: Exclude<SemaphoreRefusal, 'closed'>) => unknown;
}

/**
 * A semaphore whose places are shared between keys, such as addresses of clients: keys take turns, first in, first out within
 * one key. Where the queue is full, the last of the key with the most waiting makes room for a key with fewer.
 */
export interface FairSemaphore {
  /**
   * Holds a place of `key` while `work` runs.
   * @throws what `work` throws, and what `refuse` makes.
   */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
  readonly held: number;
  readonly waiting: number;
}
