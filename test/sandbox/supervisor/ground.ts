import { setTimeout as pause } from 'node:timers/promises';
import type { Bounds } from '../../../sandbox/host/supervisor/bounds.ts';
import { RunFailure } from '../../../sandbox/host/supervisor/failure.ts';
import type { Run } from '../../../sandbox/host/supervisor/run.ts';
import { createSupervisor, type Guest, type Supervisor } from '../../../sandbox/host/supervisor/supervisor.ts';
import type { Limits } from '../../../sandbox/protocol/messages.ts';
import { type FakeLauncher, LIMITS } from './fake.ts';

export interface Ground {
  readonly supervisor: Supervisor;
  readonly launcher: FakeLauncher;
  readonly parked: string[];
  open(script: string): Guest;
}

interface Options {
  readonly processes?: number;
  readonly places?: number;
  readonly bounds?: Partial<Bounds>;
  readonly limits?: Partial<Limits>;
  readonly now?: () => number;
}

/** A supervisor over fake children, and nothing left of it afterwards. */
export async function withGround(
  launcher: FakeLauncher,
  options: Options,
  work: (ground: Ground) => Promise<void>,
): Promise<void> {
  const parked: string[] = [];
  const supervisor = createSupervisor({
    launcher,
    limits: { ...LIMITS, ...options.limits },
    processes: options.processes ?? 4,
    ...(options.places && { places: options.places }),
    log: { warn() {} },
    bounds: { ...options.bounds },
    ...(options.now && { now: options.now }),
  });
  const open = (script: string) =>
    supervisor.open({ name: script, script, reuse: false, onParked: (detail) => void parked.push(detail) });
  try {
    await work({ supervisor, launcher, parked, open });
  } finally {
    await supervisor.close();
  }
  if (supervisor.living() > 0 || launcher.living() > 0) throw new Error('a process was left');
}

export const run = (input: unknown = 1, more: Partial<Run> = {}): Run => ({
  entry: '',
  context: { extensionId: 'x', contributionId: 'x', activation: { type: 'json-endpoint' }, accountability: null },
  input: JSON.stringify(input),
  call: () => false,
  ...more,
});

/** What an invocation came to: the text of its answer, or the code of its failure. */
export async function outcome(promise: Promise<Buffer | undefined>): Promise<string | undefined> {
  try {
    return (await promise)?.toString();
  } catch (error) {
    if (error instanceof RunFailure) return error.code;
    throw error;
  }
}

/** Waits for a condition; complains when it does not come to be. */
export async function until(condition: () => boolean, what = 'it', deadline = 30_000): Promise<void> {
  const end = performance.now() + deadline;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`${what} did not come to be`);
    await pause(5);
  }
}
