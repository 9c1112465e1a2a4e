import { availableParallelism } from 'node:os';
import type { WorkerPoolOptions } from '../workers/contract.ts';
import { MEDIA_PROCESS_LIMITS } from './limits.ts';

/** The lane that limits transformations (`WorkerPoolOptions.lanes`). Inspections have no lane. */
export const IMAGE_TRANSFORM_LANE = 'transform';

/**
 * The environment of a media process, without variables of the service. The threshold keeps decoded images in memory,
 * so that they do not fill `/tmp`.
 */
const ENVIRONMENT = { TZ: 'UTC', MALLOC_ARENA_MAX: '2', VIPS_DISC_THRESHOLD: '64g' };

/**
 * The permission flags keep the JavaScript in a process from writing files and starting processes; addons are allowed for the
 * decoders, which the flags do not bind.
 */
const FLAGS = [
  '--permission',
  '--allow-addons',
  '--allow-fs-read=*',
  `--max-old-space-size=${MEDIA_PROCESS_LIMITS.heap}`,
  '--disallow-code-generation-from-strings',
];

export interface MediaProcessOptions {
  /** Transformations at a time. */
  readonly count?: number;
  /** Milliseconds without a job after which a process ends. */
  readonly idle?: number;
}

/**
 * The options of the worker pool. Transformations take `count` processes at most. There is one more process, so that an
 * upload, which is inspected, does not wait for slow images.
 */
export function buildMediaWorkerPoolOptions({
  count = Math.max(1, Math.min(availableParallelism(), MEDIA_PROCESS_LIMITS.count)),
  idle = MEDIA_PROCESS_LIMITS.idle,
}: MediaProcessOptions = {}): WorkerPoolOptions {
  // All processes together use one thread for each core.
  const threads = Math.max(1, Math.floor(availableParallelism() / count));
  return {
    program: new URL('./child/entry.ts', import.meta.url),
    args: [String(threads)],
    flags: FLAGS,
    environment: ENVIRONMENT,
    bounds: {
      data: MEDIA_PROCESS_LIMITS.data,
      processor: MEDIA_PROCESS_LIMITS.processor,
      niceness: MEDIA_PROCESS_LIMITS.niceness,
      outOfMemoryScore: MEDIA_PROCESS_LIMITS.outOfMemoryScore,
    },
    processes: count + 1,
    lanes: { [IMAGE_TRANSFORM_LANE]: count },
    startTimeout: MEDIA_PROCESS_LIMITS.start,
    idleTimeout: idle,
    replaceAfter: MEDIA_PROCESS_LIMITS.replaceAfter,
  };
}
