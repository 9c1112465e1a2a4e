import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { TestMachineOverrides } from './launcher-fixture.ts';

const SERVICE = fileURLToPath(new URL('./launcher-process.ts', import.meta.url));

export interface LauncherProcessOptions {
  readonly mode: string;
  readonly environment?: TestMachineOverrides;
  /** User id of the process. Default: that of the tests. */
  readonly uid?: number;
  /** File descriptors that the process inherits, by their number in it. */
  readonly inherited?: Readonly<Record<number, number>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Command and arguments in front of the Node command, such as `prlimit`. */
  readonly wrapper?: readonly string[];
}

export interface LauncherProcess {
  readonly process: ChildProcess;
  /** Reads the next JSON value that the process prints; undefined once the process has ended. */
  next(): Promise<unknown>;
  readonly ended: Promise<number | null>;
}

/** Starts `launcher-process.ts` as a child process. */
export function startLauncherProcess({
  mode,
  environment = {},
  uid,
  inherited = {},
  env = {},
  wrapper = [],
}: LauncherProcessOptions): LauncherProcess {
  const highest = Math.max(2, ...Object.keys(inherited).map(Number));
  const stdio = Array.from({ length: highest + 1 }, (_, fd) => inherited[fd] ?? (fd === 1 ? 'pipe' : 'ignore'));
  const [command = '', ...parameters] = [...wrapper, process.execPath, SERVICE, mode, JSON.stringify(environment)];
  const child = spawn(command, parameters, {
    ...{ stdio, cwd: '/', env: { ...env } },
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  const ended = new Promise<number | null>((resolve) => {
    child.once('exit', resolve);
    child.once('error', () => resolve(null));
  });
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  return {
    process: child,
    ended,
    async next() {
      const { value, done } = await lines.next();
      return done ? undefined : JSON.parse(value);
    },
  };
}
