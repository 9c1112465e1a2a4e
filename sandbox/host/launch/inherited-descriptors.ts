import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { devNull } from 'node:os';

const CLOSE_ON_EXEC = 0o2000000;

/**
 * Descriptors that whoever started the service left open and that every process it starts would get as well: sockets
 * of a service manager, pipes of a shell. Node closes those it makes itself, and of these only the lowest.
 */
export function inheritedDescriptors(): readonly number[] {
  try {
    return readdirSync('/proc/self/fdinfo').map(Number).filter(isInherited);
  } catch {
    return [];
  }
}

/**
 * Adds to a list for `spawn`, so that the child finds the null device in place of each of them. `close` is for after
 * the start.
 */
export function coverInheritedDescriptors<T>(stdio: readonly T[], inherited: readonly number[]) {
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
