import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Surroundings } from '../../../sandbox/host/launch/launcher.ts';

const SERVICE = fileURLToPath(new URL('./service.ts', import.meta.url));

export interface Serving {
  readonly mode: string;
  readonly surroundings?: Surroundings;
  /** As which user; the one of the tests unless given. */
  readonly uid?: number;
  /** Descriptors to hand over, by number. */
  readonly inherited?: Readonly<Record<number, number>>;
  readonly env?: Readonly<Record<string, string>>;
  /** A command that starts Node in its place. */
  readonly through?: readonly string[];
}

export interface Served {
  readonly process: ChildProcess;
  /** The next value it says; undefined once it has ended. */
  next(): Promise<unknown>;
  readonly ended: Promise<number | null>;
}

/** Starts `service.ts` as a process of its own. */
export function serve({ mode, surroundings = {}, uid, inherited = {}, env = {}, through = [] }: Serving): Served {
  const highest = Math.max(2, ...Object.keys(inherited).map(Number));
  const stdio = Array.from({ length: highest + 1 }, (_, fd) => inherited[fd] ?? (fd === 1 ? 'pipe' : 'ignore'));
  const [command = '', ...parameters] = [...through, process.execPath, SERVICE, mode, JSON.stringify(surroundings)];
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
