import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClockMessage } from './flow-process.ts';

/** Processes that run flows, by name. */
export interface KillableProcesses {
  readonly killed: ReadonlySet<string>;
  names(): readonly string[];
  /** Starts processes until there are `count`; with `now` their clocks stand still. */
  fill(count: number, now?: number): Promise<void>;
  setClock(now: number): void;
  kill(name: string): Promise<void>;
  stop(): Promise<void>;
}

export async function createKillableProcesses(databaseUrl: string): Promise<KillableProcesses> {
  const program = new URL('flow-process.ts', import.meta.url);
  /** Killed processes leave their files here. */
  const folder = await mkdtemp(join(tmpdir(), 'tenon-faults-'));
  const running = new Map<string, ChildProcess>();
  const killed = new Set<string>();
  let lives = 0;

  async function start(now: number | undefined): Promise<void> {
    const name = `life ${++lives}`;
    const child = fork(program, [databaseUrl, name, ...(now === undefined ? [] : [String(now)])], {
      execArgv: process.execArgv,
      env: { ...process.env, TMPDIR: folder },
    });
    await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(([code]) => Promise.reject(new Error(`${name} ended with ${code} while it started`))),
    ]);
    running.set(name, child);
  }

  async function end(child: ChildProcess, act: () => void): Promise<void> {
    const ended = once(child, 'exit');
    act();
    await ended;
  }

  return {
    killed,
    names: () => [...running.keys()],
    async fill(count, now) {
      while (running.size < count) await start(now);
    },
    setClock(now) {
      for (const child of running.values()) child.send({ now } satisfies ClockMessage);
    },
    async kill(name) {
      const child = running.get(name) as ChildProcess;
      running.delete(name);
      killed.add(name);
      await end(child, () => child.kill('SIGKILL'));
    },
    async stop() {
      for (const child of running.values()) await end(child, () => child.disconnect());
      await rm(folder, { recursive: true, force: true });
    },
  };
}
