/** Bounds of one template (conventions, "template.renderLiquid"). Sizes in characters or bytes, times in milliseconds. */
export const LIMITS = {
  /** Characters of the template. */
  parse: 1024 * 1024,
  /** What the engine itself stops at, between two parts of a template. */
  render: 250,
  /** Characters and list entries that filters may make. */
  memory: 16 * 1024 * 1024,
  /** Bytes of what comes out. */
  output: 1024 * 1024,
  /** Bytes of the data, as JSON. */
  data: 4 * 1024 * 1024,
} as const;

/** Characters of one delimiter. */
export const MAX_DELIMITER_LENGTH = 8;

/** Engines kept, each for its delimiters. */
export const MAX_ENGINES = 20;

/**
 * Around the process that renders: parsing, and a single filter, know no time limit, and what they allocate is counted
 * only in part. A process that goes beyond is killed.
 */
export const PROCESS = {
  /** From the moment a template is handed to it. */
  deadline: 1500,
  start: 15_000,
  /** MiB of its heap. */
  heap: 64,
  /** Without work for so long it is ended. */
  idle: 60_000,
  /** At a time. */
  count: 2,
  /** Templates that wait for one. */
  queue: 200,
} as const;
