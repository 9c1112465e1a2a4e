/** Bounds of one template (conventions, "template.renderLiquid"). Sizes in characters or bytes, times in milliseconds. */
export const TEMPLATE_LIMITS = {
  /** Characters of the template. */
  parse: 1024 * 1024,
  /** Milliseconds after which the engine stops, checked between two parts of a template. */
  render: 250,
  /** Characters and list entries that filters may make. */
  memory: 16 * 1024 * 1024,
  /** Bytes of the rendered text. */
  output: 1024 * 1024,
  /** Bytes of the data, as JSON. */
  data: 4 * 1024 * 1024,
} as const;

/** Characters of one delimiter. */
export const MAX_DELIMITER_LENGTH = 8;

/** Cached engines, one for each set of options. */
export const MAX_CACHED_TEMPLATE_ENGINES = 20;

/**
 * Limits of the rendering process. Parsing and single filters have no time limit in the engine, and their allocations
 * are counted only in part. So a process over these limits is killed.
 */
export const RENDER_PROCESS_LIMITS = {
  /** Milliseconds from sending a template to its reply. */
  deadline: 1500,
  start: 15_000,
  /** MiB of the heap of a rendering process. */
  heap: 64,
  /** Milliseconds without work after which a process ends. */
  idle: 60_000,
  /** Processes at a time. */
  count: 2,
  /** Templates that wait for a process. */
  queue: 200,
} as const;
