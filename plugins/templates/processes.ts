import { fileURLToPath } from 'node:url';
import type { WorkerPoolOptions } from '../workers/contract.ts';
import { PROCESS } from './limits.ts';

/** A rendering process may read its own program and the engine, and has no other permission. */
export function createProcessOptions(): WorkerPoolOptions {
  const engine = new URL('../', import.meta.resolve('liquidjs'));
  return {
    program: new URL('./child.ts', import.meta.url),
    flags: [
      '--permission',
      ...[new URL('./', import.meta.url), engine].map(buildReadFlag),
      `--max-old-space-size=${PROCESS.heap}`,
      '--disallow-code-generation-from-strings',
    ],
    processes: PROCESS.count,
    queue: PROCESS.queue,
    startTimeout: PROCESS.start,
    idleTimeout: PROCESS.idle,
  };
}

const buildReadFlag = (folder: URL): string => `--allow-fs-read=${fileURLToPath(folder)}`;
