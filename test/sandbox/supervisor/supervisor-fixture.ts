import { setTimeout as pause } from 'node:timers/promises';
import type { SupervisorBounds } from '../../../sandbox/host/supervisor/bounds.ts';
import type { GuestRun } from '../../../sandbox/host/supervisor/guest-run.ts';
import { RunFailure } from '../../../sandbox/host/supervisor/run-failure.ts';
import {
  createSupervisor,
  type SupervisedProgram,
  type Supervisor,
} from '../../../sandbox/host/supervisor/supervisor.ts';
import type { GuestLimits } from '../../../sandbox/protocol/messages.ts';
import { type FakeLauncher, LIMITS } from './fake-launcher.ts';

export interface SupervisorFixture {
  readonly supervisor: Supervisor;
  readonly launcher: FakeLauncher;
  readonly parked: string[];
  open(script: string): SupervisedProgram;
}

interface FixtureOptions {
  readonly processes?: number;
  readonly slots?: number;
  readonly bounds?: Partial<SupervisorBounds>;
  readonly limits?: Partial<GuestLimits>;
  readonly now?: () => number;
}

/** Runs `work` with a supervisor over fake children and checks that no process is left. */
export async function withSupervisor(
  launcher: FakeLauncher,
  options: FixtureOptions,
  work: (ground: SupervisorFixture) => Promise<void>,
): Promise<void> {
  const parked: string[] = [];
  const supervisor = createSupervisor({
    launcher,
    limits: { ...LIMITS, ...options.limits },
    processes: options.processes ?? 4,
    ...(options.slots && { slots: options.slots }),
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

export const createRun = (input: unknown = 1, more: Partial<GuestRun> = {}): GuestRun => ({
  entry: '',
  context: { extensionId: 'x', contributionId: 'x', activation: { type: 'json-endpoint' }, accountability: null },
  input: JSON.stringify(input),
  call: () => false,
  ...more,
});

/** The text of an invocation's result, or the code of its failure. */
export async function getOutcome(promise: Promise<Buffer | undefined>): Promise<string | undefined> {
  try {
    return (await promise)?.toString();
  } catch (error) {
    if (error instanceof RunFailure) return error.code;
    throw error;
  }
}

/** Waits for a condition. Throws when it does not hold within the deadline. */
export async function until(condition: () => boolean, what = 'it', deadline = 30_000): Promise<void> {
  const end = performance.now() + deadline;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`${what} did not come to be`);
    await pause(5);
  }
}
