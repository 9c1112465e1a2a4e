/** Times in milliseconds. */

/** Around one child process. */
export const PROCESS = {
  /** For images, at a time, where there are as many cores. */
  count: 4,
  /** Until it says that it is there. */
  start: 20_000,
  /** Without work for so long it is ended. */
  idle: 60_000,
  /** How far its work stands back for that of others, from 0 to 19. */
  niceness: 10,
  /** How soon the system ends it when the machine runs out of memory, from 0 to 1000. */
  outOfMemoryScore: 700,
  /** MiB of its JavaScript heap. */
  heap: 256,
  /** MiB of all its memory that is not a file. Where the machine cannot bound it, the limits of pixels have to do. */
  data: 2048,
  /** Seconds of processor time after which it is replaced when its job is done, */
  worn: 120,
  /** and those at which the system ends it: one that spins when the service is long dead does not spin for ever. */
  processor: 900,
} as const;

/** From the moment a file is handed to a process. */
export const INSPECTION = 10_000;

/** Of what is told about one file. */
export const METADATA = {
  /** Characters of all of it as JSON. */
  total: 64 * 1024,
  /** Of one text. */
  text: 2000,
  /** Of one list. */
  entries: 200,
  /** Bytes of a value that is no text: more are left out. */
  bytes: 32,
  /** Values in values. */
  depth: 4,
} as const;

/** Pixels of all frames of a moving image together may be so many times those of the largest still one. */
export const FRAMES = 4;
