import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import type { ChildProcessExit } from '../confined-child.ts';
import type { ControlGroup } from './cgroups/group.ts';
import { killProcessGroup } from './kill.ts';
import type { ChildLaunchPlan } from './launch-plan.ts';

/** Waits until a child is reaped and its group is removed. Never rejects. */
export async function waitForChildEnd(
  process: ChildProcess | null,
  plan: ChildLaunchPlan,
  group: ControlGroup | null,
): Promise<ChildProcessExit> {
  const { code, signal } = process === null ? { code: null, signal: null } : await waitForExit(process);
  if (plan.namespaceMode === 'none' && process?.pid !== undefined) killProcessGroup(process.pid);
  const isOutOfMemory = group !== null && group.counters().outOfMemory > 0;
  await group?.remove().catch(() => false);
  // bubblewrap reports a signal of the guest as exit code 128 + signal, as a shell does.
  const inner = plan.namespaceMode === 'none' || code === null ? undefined : SIGNALS.get(code - 128);
  return inner === undefined ? { code, signal, isOutOfMemory } : { code: null, signal: inner, isOutOfMemory };
}

const SIGNALS = new Map(
  Object.entries(constants.signals).map(([name, number]) => [number, name as NodeJS.Signals] as const),
);

const waitForExit = (process: ChildProcess) =>
  new Promise<Pick<ChildProcessExit, 'code' | 'signal'>>((resolve) => {
    if (process.exitCode !== null || process.signalCode !== null) {
      resolve({ code: process.exitCode, signal: process.signalCode });
      return;
    }
    process.once('exit', (code, signal) => resolve({ code, signal }));
    // The process could not be started, so no exit event follows.
    process.once('error', () => process.pid === undefined && resolve({ code: null, signal: null }));
  });
