import { readFileSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

/** Ids of the direct children of a process in this namespace; empty where the kernel does not report them. */
export function childProcessIdsOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').map(Number).filter(Boolean);
  } catch {
    return [];
  }
}

/** The process that runs the guest: the last one of the chain that bubblewrap starts. */
export function findGuestPid(pid: number): number {
  let found = pid;
  for (let next = childProcessIdsOf(found)[0]; next !== undefined; next = childProcessIdsOf(found)[0]) found = next;
  return found;
}

/** Lines of /proc/<pid>/status by name; empty once the process has ended. */
export async function readProcStatus(pid: number): Promise<Readonly<Record<string, string>>> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Object.fromEntries(text.split('\n').map((line) => line.split(/:\s*/, 2)));
}

/** Bytes of a line such as `VmRSS: 1024 kB`; 0 where it is missing. */
export const parseKilobytesToBytes = (line: string | undefined): number => Number.parseInt(line ?? '0', 10) * 1024;

/** Soft limits of a process by the kernel's name for them, `Infinity` for none. */
export async function readProcLimits(pid: number): Promise<Readonly<Record<string, number>>> {
  const text = await readFile(`/proc/${pid}/limits`, 'utf8').catch(() => '');
  const rows = text.split('\n').flatMap((line) => {
    const found = line.match(/^Max (.+?) {2,}(\S+) /);
    return found ? [[found[1], found[2] === 'unlimited' ? Infinity : Number(found[2])]] : [];
  });
  return Object.fromEntries(rows);
}

/**
 * The inode of this process namespace. Containers that share folders or cgroups have process ids of their own, so ids
 * are compared within one namespace only.
 */
export const OWN_PID_NAMESPACE_ID = readPidNamespace();

function readPidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid').match(/\d+/)?.[0] ?? '0';
  } catch {
    return '0';
  }
}

export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** One line of /proc/<pid>/status, read synchronously; '' once the process has ended. */
export function readProcStatusLine(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8').match(new RegExp(`^${name}:\\s*(.*)$`, 'm'))?.[1] ?? '';
  } catch {
    return '';
  }
}

/** Milliseconds of a tick in /proc, which is the same on all machines (USER_HZ). */
const TICK_MS = 10;

/** Milliseconds of CPU that the first thread of a process has used; undefined where the kernel does not report it. */
export function readMainThreadCpuTime(pid: number): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'latin1');
    // The name, in parentheses, may hold anything; user and system time are the twelfth and thirteenth after it.
    const [user, system] = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13)
      .map(Number);
    const ticks = (user ?? Number.NaN) + (system ?? Number.NaN);
    return Number.isFinite(ticks) ? ticks * TICK_MS : undefined;
  } catch {
    return undefined;
  }
}
