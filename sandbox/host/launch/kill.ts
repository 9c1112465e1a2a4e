import type { ChildProcess } from 'node:child_process';
import type { ChildLaunchPlan } from './launch-plan.ts';
import { childProcessIdsOf } from './proc.ts';

/** Milliseconds that bubblewrap may take to end after its namespace has ended. */
const BUBBLEWRAP_END_TIMEOUT = 500;

/**
 * Sends SIGKILL to a child and all its processes. With a process namespace the first process of the namespace is
 * killed: the kernel then ends everything inside, and bubblewrap reaps it and ends. So no orphaned process is left to a
 * service that is the first process of a container and reaps only its own children.
 */
export function killProcessTree(process: ChildProcess, namespaceMode: ChildLaunchPlan['namespaceMode']): void {
  if (process.pid === undefined || process.exitCode !== null || process.signalCode !== null) return;
  if (namespaceMode === 'none') {
    killProcessGroup(process.pid);
    return;
  }
  const [first] = childProcessIdsOf(process.pid);
  if (first === undefined || !sendSigkill(first)) {
    // bubblewrap has not started the namespace yet. A process that it is just creating dies with it.
    process.kill('SIGKILL');
    return;
  }
  const timer = setTimeout(() => process.kill('SIGKILL'), BUBBLEWRAP_END_TIMEOUT).unref();
  process.once('exit', () => clearTimeout(timer));
}

/** Without namespaces: kills the process group of the session. */
export function killProcessGroup(pid: number): void {
  sendSigkill(-pid) || sendSigkill(pid);
}

function sendSigkill(pid: number): boolean {
  try {
    process.kill(pid, 'SIGKILL');
    return true;
  } catch {
    return false;
  }
}
