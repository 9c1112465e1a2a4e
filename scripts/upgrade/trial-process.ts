import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';

/** A process of one version of the service. */
export interface TrialProcess {
  readonly version: string;
  readonly port: number;
  /** Milliseconds from its start to its first answer. */
  readonly startTime: number;
  output(): string;
  /**
   * Sends SIGTERM to the process and what it started, as a terminal does, and resolves with the exit code and the milliseconds that it
   * took. npx does not pass signals on by itself.
   */
  stop(): Promise<{ readonly code: number | null; readonly time: number }>;
}

export interface TrialProcessOptions {
  readonly version: string;
  /** The command and its arguments. */
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly port: number;
  /** The user that runs it; this user by default. */
  readonly account?: { readonly uid: number; readonly gid: number } | undefined;
}

/** Milliseconds in which a process has to answer, also one that creates a database first. */
const START_LIMIT = 120_000;

/** Starts a version. @throws Error with its output where it ends before it answers. */
export async function startTrialProcess(options: TrialProcessOptions): Promise<TrialProcess> {
  const { version, port } = options;
  const begun = performance.now();
  const { child, output } = spawnTrial(options);
  const ended = once(child, 'close') as Promise<[number | null]>;
  const isUp = await Promise.race([waitForAnswer(port), ended.then(() => false)]);
  if (!isUp) {
    child.kill('SIGKILL');
    throw new Error(`version ${version} did not start:\n${output()}`);
  }
  return {
    version,
    port,
    startTime: performance.now() - begun,
    output,
    async stop() {
      const from = performance.now();
      process.kill(-(child.pid as number), 'SIGTERM');
      const [code] = await ended;
      return { code, time: performance.now() - from };
    },
  };
}

/** Starts a version that has to refuse, and answers what it prints. @throws Error where it answers requests. */
export async function captureRefusedStart(options: TrialProcessOptions): Promise<string> {
  const { child, output } = spawnTrial(options);
  const ended = once(child, 'close') as Promise<[number | null]>;
  const isUp = await Promise.race([waitForAnswer(options.port), ended.then(() => false)]);
  if (isUp) child.kill('SIGTERM');
  const [code] = await ended;
  if (isUp || code !== 1) throw new Error(`version ${options.version} started, or ended with ${code}:\n${output()}`);
  return output();
}

function spawnTrial({ command: [program, ...args], cwd, environment, port, account }: TrialProcessOptions): {
  readonly child: ChildProcess;
  readonly output: () => string;
} {
  const child = spawn(program, args, {
    cwd,
    env: { ...environment, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    ...account,
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr] as const)
    stream?.setEncoding('utf8').on('data', (part: string) => (text += part));
  return { child, output: () => text };
}

async function waitForAnswer(port: number): Promise<boolean> {
  for (const deadline = Date.now() + START_LIMIT; Date.now() < deadline; await pause(50)) {
    const reply = await fetch(`http://127.0.0.1:${port}/server/ping`).catch(() => undefined);
    if (reply?.ok) return (await reply.text()) === 'pong';
  }
  return false;
}
