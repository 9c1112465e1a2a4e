/** Times in milliseconds. */

/** Limits and priorities of one child process that inspects files and transforms images. */
export const MEDIA_PROCESS_LIMITS = {
  /** Processes for images, but not more than cores. */
  count: 4,
  /** Milliseconds until the process reports that it is ready. */
  start: 20_000,
  /** Milliseconds without a job after which the process is ended. */
  idle: 60_000,
  /** `nice` value, 0 to 19: other work on the machine comes first. */
  niceness: 10,
  /** `oom_score_adj`, 0 to 1000: how early Linux kills the process when memory runs out. */
  outOfMemoryScore: 700,
  /** MiB of the JavaScript heap of the process. */
  heap: 256,
  /** MiB of memory without mapped files (RLIMIT_DATA). Where the system has no such limit, only the pixel limits apply. */
  data: 2048,
  /** Seconds of processor time after which the process is replaced when its job is done. */
  replaceAfter: 120,
  /** Seconds of processor time at which the system kills the process, so that a spinning one ends even without the service. */
  processor: 900,
} as const;

/** Milliseconds that one inspection may take, from the start of its job. */
export const FILE_INSPECTION_TIMEOUT_MS = 10_000;

/** Limits on the metadata of one file. */
export const IMAGE_METADATA_LIMITS = {
  /** Characters of all metadata of a file as JSON. */
  total: 64 * 1024,
  /** Characters of one text. */
  text: 2000,
  /** Entries of one list. */
  entries: 200,
  /** Bytes of a value that is no text: more are left out. */
  bytes: 32,
  /** Levels of values inside of values. */
  depth: 4,
} as const;

/** All frames of an animation may have this many times the pixels of the largest still image. */
export const MAX_ANIMATION_FACTOR = 4;
