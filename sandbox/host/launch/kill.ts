import type { ChildProcess } from 'node:child_process';
import type { Plan } from './plan.ts';
import { childrenOf } from './proc.ts';

/** How long bubblewrap may take to notice that its namespace is gone. Milliseconds. */
const NOTICE = 500;

/**
 * SIGKILL to a child and to all it started. With a process namespace its first process is killed: the kernel ends
 * everything inside, and bubblewrap, which waits for it, ends after that and leaves nobody to a service that may be the
 * first process of a container and reaps only its own.
 */
export function killTree(process: ChildProcess, carrier: Plan['carrier']): void {
  if (process.pid === undefined || process.exitCode !== null || process.signalCode !== null) return;
  if (carrier === 'none') {
    killGroup(process.pid);
    return;
  }
  const [first] = childrenOf(process.pid);
  if (first === undefined || !send(first)) {
    // Not that far yet; what it may just be making dies with it.
    process.kill('SIGKILL');
    return;
  }
  const timer = setTimeout(() => process.kill('SIGKILL'), NOTICE).unref();
  process.once('exit', () => clearTimeout(timer));
}

/** Without namespaces: whoever stayed in the session's first group. */
export function killGroup(pid: number): void {
  send(-pid) || send(pid);
}

function send(pid: number): boolean {
  try {
    process.kill(pid, 'SIGKILL');
    return true;
  } catch {
    return false;
  }
}
