/** Around one process that hashes. Times in milliseconds. */
export const PROCESS = {
  /** Until it says that it is there. */
  start: 20_000,
  /** One hash may take so long. */
  deadline: 30_000,
  /** Without work for so long it is ended: it holds 50 MiB. */
  idle: 10_000,
  /** How far its work stands back for that of others, from 0 to 19: requests that need no password go first. */
  niceness: 10,
  /**
   * Share of the processors that hashes run on. Four lanes would keep four of them busy, and a process that wakes up on a busy one
   * waits for milliseconds even where its priority is higher.
   */
  processors: 0.5,
  /** How soon the system ends it when the machine runs out of memory, from 0 to 1000. */
  outOfMemoryScore: 500,
  /** MiB of its memory that is not a file, beside those that one hash takes. Node itself reserves 560. */
  data: 1024,
  /** Seconds of processor time after which it is replaced when its job is done, */
  worn: 600,
  /** and those at which the system ends it. */
  processor: 1200,
} as const;

/** The queue of clients that wait for a process. */
export const QUEUE = {
  /** Of all clients together. */
  all: 128,
  /** Of one client. */
  client: 32,
  /** Milliseconds that one may wait. */
  deadline: 10_000,
  /** Seconds after which a refused client may try again. */
  retryAfter: 5,
} as const;
