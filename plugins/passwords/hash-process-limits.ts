/** Limits and priorities of one process that hashes passwords. Times in milliseconds. */
export const HASH_PROCESS_LIMITS = {
  /** Milliseconds until the process reports that it is ready. */
  start: 20_000,
  /** Milliseconds that one hash may take. */
  deadline: 30_000,
  /** Milliseconds without a job after which the process is ended: it holds 50 MiB. */
  idle: 10_000,
  /** `nice` value, 0 to 19: requests that need no password come first. */
  niceness: 10,
  /**
   * Share of the processors that hashes run on. Four lanes would keep four of them busy, and a process that wakes up on a busy one
   * waits for milliseconds even where its priority is higher.
   */
  processors: 0.5,
  /** `oom_score_adj`, 0 to 1000: how early Linux kills the process when memory runs out. */
  outOfMemoryScore: 500,
  /** MiB of memory without mapped files, beside the memory that one hash takes. Node itself reserves 560. */
  data: 1024,
  /** Seconds of processor time after which the process is replaced when its job is done. */
  worn: 600,
  /** Seconds of processor time at which the system kills the process. */
  processor: 1200,
} as const;

/** Limits of the queue in which clients wait for a hashing process. */
export const HASH_QUEUE_LIMITS = {
  /** Waiting jobs of all clients together. */
  all: 128,
  /** Waiting jobs of one client. */
  client: 32,
  /** Milliseconds that a job may wait. */
  deadline: 10_000,
  /** Seconds after which a refused client may try again. */
  retryAfter: 5,
} as const;
