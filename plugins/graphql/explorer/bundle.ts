import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The files a browser gets, by names that change with what is in them. */
export interface Bundle {
  readonly script: string;
  readonly style: string;
  /** By the names under which the editor asks for them. */
  readonly workers: Readonly<Record<string, string>>;
  /** Compressed with gzip, which nearly every client takes as it is. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** Milliseconds. It takes two to six seconds. */
const TIMEOUT = 60_000;

/**
 * Makes the page's files out of the packages they are written in, in a process beside this one. Equal packages make equal
 * files with equal names, so several processes of the service serve each other's pages.
 */
export async function buildBundle(): Promise<Bundle> {
  const child = fork(fileURLToPath(new URL('./bundle-process.ts', import.meta.url)), [], {
    env: {},
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
  });
  const deadline = setTimeout(() => child.kill('SIGKILL'), TIMEOUT);
  try {
    const [made] = await Promise.race([
      once(child, 'message') as Promise<[{ bundle: Bundle } | { reason: string }]>,
      once(child, 'exit').then(([code, signal]) => [{ reason: `the process ended with ${signal ?? code}` }] as const),
    ]);
    if ('reason' in made) throw new Error(made.reason);
    return made.bundle;
  } finally {
    clearTimeout(deadline);
  }
}
