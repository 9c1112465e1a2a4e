import type { ChildProcess } from 'node:child_process';
import type { LaunchPlan } from './launch-plan.ts';
import { childrenOf } from './proc.ts';

/** How long bubblewrap may take to notice that its namespace is gone. Milliseconds. */
const BUBBLEWRAP_END_TIMEOUT = 500;

/**
 * SIGKILL to a child and to all it started. With a process namespace its first process is killed: the kernel ends
 * everything inside, and bubblewrap, which waits for it, ends after that and leaves nobody to a service that may be the
 * first process of a container and reaps only its own.
 */
export function killTree(process: ChildProcess, namespaceMode: LaunchPlan['namespaceMode']): void {
  if (process.pid === undefined || process.exitCode !== null || process.signalCode !== null) return;
  if (namespaceMode === 'none') {
    killGroup(process.pid);
    return;
  }
  const [first] = childrenOf(process.pid);
  if (first === undefined || !sendSigkill(first)) {
    // Not that far yet; what it may just be making dies with it.
    process.kill('SIGKILL');
    return;
  }
  const timer = setTimeout(() => process.kill('SIGKILL'), BUBBLEWRAP_END_TIMEOUT).unref();
  process.once('exit', () => clearTimeout(timer));
}

/** Without namespaces: whoever stayed in the session's first group. */
export function killGroup(pid: number): void {
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
