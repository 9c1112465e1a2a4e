import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { devNull } from 'node:os';

const CLOSE_ON_EXEC = 0o2000000;

/**
 * Descriptors that the parent of the service left open, such as sockets of a service manager or pipes of a shell. Every
 * process that the service starts would inherit them: Node sets close-on-exec only on descriptors that it opens itself,
 * and on the lowest of the inherited ones.
 */
export function listInheritedDescriptors(): readonly number[] {
  try {
    return readdirSync('/proc/self/fdinfo').map(Number).filter(isInherited);
  } catch {
    return [];
  }
}

/**
 * Extends the stdio list of `spawn` so that the child gets the null device in place of each inherited descriptor. Call
 * `close` after the start.
 */
export function replaceInheritedDescriptorsWithNull<T>(stdio: readonly T[], inherited: readonly number[]) {
  const highest = Math.max(-1, ...inherited);
  if (highest < stdio.length) return { stdio: [...stdio], close() {} };
  const nothing = openSync(devNull, 'r');
  const list: (T | number | 'ignore')[] = [...stdio];
  for (let fd = stdio.length; fd <= highest; fd += 1) list.push(inherited.includes(fd) ? nothing : 'ignore');
  return { stdio: list, close: () => closeSync(nothing) };
}

function isInherited(fd: number): boolean {
  if (fd <= 2) return false;
  try {
    const flags = readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8').match(/^flags:\s*(\d+)/m)?.[1] ?? '';
    return (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    return false;
  }
}
