import { fork } from 'node:child_process';
import { once } from 'node:events';
import { HEAP_FLAGS } from '../../test/support/service.ts';

/** A server of the benchmark in a process of its own. */
export interface ForkedServer {
  readonly url: URL;
  readonly pid: number;
  stop(): Promise<void>;
}

/**
 * Starts a module in a child process, which sends its port once it listens. `env` is the whole environment of the child besides
 * PATH.
 */
export async function forkServer(
  module: URL,
  env: Readonly<Record<string, string>>,
  nodeOptions: readonly string[] = [],
): Promise<ForkedServer> {
  const child = fork(module, { env: { PATH: process.env.PATH, ...env }, execArgv: [...HEAP_FLAGS, ...nodeOptions] });
  const stop = async () => {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  };
  try {
    return { url: new URL(`http://127.0.0.1:${await portOf(child)}`), pid: child.pid as number, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Resolves with the port that the child sends. Rejects where the child ends before. */
function portOf(child: ReturnType<typeof fork>): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('message', (port) => resolve(Number(port)));
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`a server of the bench ended as it started, with code ${code}`)));
  });
}
