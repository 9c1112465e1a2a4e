import { fileURLToPath } from 'node:url';
import type { WorkerPoolOptions } from '../workers/contract.ts';
import { RENDER_PROCESS_LIMITS } from './limits.ts';

/** A rendering process may read its own program and the engine, and has no other permission. */
export function buildTemplateWorkerPoolOptions(): WorkerPoolOptions {
  const engine = new URL('../', import.meta.resolve('liquidjs'));
  return {
    program: new URL('./child.ts', import.meta.url),
    flags: [
      '--permission',
      ...[new URL('./', import.meta.url), engine].map(buildReadFlag),
      `--max-old-space-size=${RENDER_PROCESS_LIMITS.heap}`,
      '--disallow-code-generation-from-strings',
    ],
    processes: RENDER_PROCESS_LIMITS.count,
    queue: RENDER_PROCESS_LIMITS.queue,
    startTimeout: RENDER_PROCESS_LIMITS.start,
    idleTimeout: RENDER_PROCESS_LIMITS.idle,
  };
}

const buildReadFlag = (folder: URL): string => `--allow-fs-read=${fileURLToPath(folder)}`;
