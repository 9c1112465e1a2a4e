import { setTimeout as pause } from 'node:timers/promises';
import { InvocationFailure } from '../../../sandbox/host/supervisor/invocation-failure.ts';
import { createSupervisor } from '../../../sandbox/host/supervisor/supervisor.ts';
import { FAKE_CHILD_LIMITS, type FakeLauncher } from './fake-launcher.ts';

type SupervisorOptions = Parameters<typeof createSupervisor>[0];
type Supervisor = ReturnType<typeof createSupervisor>;
type SupervisedProgram = ReturnType<Supervisor['open']>;
type GuestRun = Parameters<SupervisedProgram['invoke']>[0];

export interface SupervisorFixture<L extends SupervisorOptions['launcher'] = FakeLauncher> {
  readonly supervisor: Supervisor;
  readonly launcher: L;
  /** Details of the programs that were parked. */
  readonly parked: string[];
  /** Lines logged as warnings. */
  readonly warnings: object[];
  open(script: string): SupervisedProgram;
}

interface FixtureOptions extends Partial<Pick<SupervisorOptions, 'processes' | 'slots' | 'bounds' | 'now'>> {
  readonly limits?: Partial<SupervisorOptions['limits']>;
}

/** Creates a supervisor over the children of a launcher, by default with four processes and `RUNNER_LIMITS`. */
export function createTestSupervisor<L extends SupervisorOptions['launcher']>(
  launcher: L,
  { limits, ...options }: FixtureOptions = {},
): SupervisorFixture<L> {
  const parked: string[] = [];
  const warnings: object[] = [];
  const supervisor = createSupervisor({
    ...{ launcher, processes: 4, ...options },
    limits: { ...FAKE_CHILD_LIMITS, ...limits },
    log: { warn: (data) => void warnings.push(data) },
  });
  const open = (script: string) =>
    supervisor.open({ name: script, script, reuse: false, onParked: (detail) => void parked.push(detail) });
  return { supervisor, launcher, parked, warnings, open };
}

/** Runs `work` with a supervisor over fake children and checks that no process is left. */
export async function withSupervisor(
  launcher: FakeLauncher,
  options: FixtureOptions,
  work: (ground: SupervisorFixture) => Promise<void>,
): Promise<void> {
  const fixture = createTestSupervisor(launcher, options);
  try {
    await work(fixture);
  } finally {
    await fixture.supervisor.close();
  }
  if (fixture.supervisor.living() > 0 || launcher.living() > 0) throw new Error('a process was left');
}

/** An invocation of a JSON endpoint without a caller, whose host calls are all unsupported. */
export const createTestScriptInvocation = (input: unknown = 1, more: Partial<GuestRun> = {}): GuestRun => ({
  entry: '',
  context: { extensionId: 'x', contributionId: 'x', activation: { type: 'json-endpoint' }, accountability: null },
  input: JSON.stringify(input),
  call: () => false,
  ...more,
});

/** Resolves with the text of an invocation's result, or with the code of its failure. */
export async function getInvocationOutcome(promise: Promise<Buffer | undefined>): Promise<string | undefined> {
  try {
    return (await promise)?.toString();
  } catch (error) {
    if (error instanceof InvocationFailure) return error.code;
    throw error;
  }
}

/** Waits for a condition. Throws when it does not hold within the deadline. */
export async function waitForCondition(condition: () => boolean, what = 'it', deadline = 30_000): Promise<void> {
  const end = performance.now() + deadline;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`${what} did not come to be`);
    await pause(5);
  }
}
