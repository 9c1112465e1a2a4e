import type { WorkerPoolOptions } from '../workers/contract.ts';
import { HASH_PROCESS_LIMITS } from './hash-process-limits.ts';
import type { HashCost } from './worker-messages.ts';

/**
 * The environment of a hashing process. argon2 takes one thread of the process, which starts `parallelism` more. The
 * memory of one hash is kept for the next: taken from the system each time, a quarter of the work would be clearing its
 * pages, which slows other processes down as well.
 */
const ENVIRONMENT = {
  UV_THREADPOOL_SIZE: '1',
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: `${2 ** 30}`,
  MALLOC_TRIM_THRESHOLD_: `${2 ** 31}`,
};

/** The processes hold passwords: they may read files, which the library needs, and write none. */
const FLAGS = [
  '--permission',
  '--allow-addons',
  '--allow-fs-read=*',
  '--max-old-space-size=64',
  '--disallow-code-generation-from-strings',
];

/** The options of the worker pool: `count` processes, each of which computes one hash at a time. */
export const buildPasswordHashPoolOptions = (count: number, cost: HashCost): WorkerPoolOptions => ({
  program: new URL('./child.ts', import.meta.url),
  flags: FLAGS,
  environment: ENVIRONMENT,
  bounds: {
    data: HASH_PROCESS_LIMITS.data + Math.ceil(cost.memory / 1024),
    processor: HASH_PROCESS_LIMITS.processor,
    niceness: HASH_PROCESS_LIMITS.niceness,
    outOfMemoryScore: HASH_PROCESS_LIMITS.outOfMemoryScore,
    processors: HASH_PROCESS_LIMITS.processors,
  },
  processes: count,
  startTimeout: HASH_PROCESS_LIMITS.start,
  idleTimeout: HASH_PROCESS_LIMITS.idle,
  replaceAfter: HASH_PROCESS_LIMITS.worn,
});
