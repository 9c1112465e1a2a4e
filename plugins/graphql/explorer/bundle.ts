import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The files of the GraphQL explorer page, with names that contain a hash of their content. */
export interface ExplorerBundle {
  readonly script: string;
  readonly style: string;
  /** File names of the editor's web workers, by the labels that the editor requests. */
  readonly workers: Readonly<Record<string, string>>;
  /** File contents by name, compressed with gzip, which nearly every client accepts. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** Milliseconds; a build takes two to six seconds. */
const TIMEOUT = 60_000;

/**
 * Bundles the files of the GraphQL explorer from npm packages, in a child process. Equal packages give equal files with
 * equal names, so several processes of the service can serve one page.
 */
export async function buildExplorerBundle(): Promise<ExplorerBundle> {
  const child = fork(fileURLToPath(new URL('./bundle-process.ts', import.meta.url)), [], {
    env: {},
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
  });
  const deadline = setTimeout(() => child.kill('SIGKILL'), TIMEOUT);
  try {
    const [message] = await Promise.race([
      once(child, 'message') as Promise<[{ bundle: ExplorerBundle } | { reason: string }]>,
      once(child, 'exit').then(([code, signal]) => [{ reason: `the process ended with ${signal ?? code}` }] as const),
    ]);
    if ('reason' in message) throw new Error(message.reason);
    return message.bundle;
  } finally {
    clearTimeout(deadline);
  }
}
