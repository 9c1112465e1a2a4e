import { readdirSync, readFileSync } from 'node:fs';
import { childProcessIdsOf } from '../../sandbox/host/launch/proc.ts';
import type { FreshDatabase } from '../../test/support/database.ts';

/** The processes that serve requests: a server, and the database backends it uses, known by their application name. */
export async function findServerProcesses(
  pid: number,
  application: string,
  database: FreshDatabase,
): Promise<{ readonly server: number; readonly backends: readonly number[] }> {
  const backends = await database.query<{ pid: number }>(
    'select pid from pg_stat_activity where datname = current_database() and application_name = $1',
    [application],
  );
  return { server: pid, backends: backends.map((one) => one.pid) };
}

/** Milliseconds of CPU time that the threads of a process have used so far, to the nanosecond; 0 for a process that has ended. */
function cpuOf(pid: number): number {
  try {
    const nanoseconds = readdirSync(`/proc/${pid}/task`).map((thread) =>
      Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ', 1)[0]),
    );
    return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e6;
  } catch {
    return 0;
  }
}

/** Processor time so far by process, so that a connection made in between counts from its beginning. */
export const cpuByProcess = (pids: readonly number[]): ReadonlyMap<number, number> =>
  new Map(pids.map((pid) => [pid, cpuOf(pid)]));

/**
 * Bytes of memory a process holds. `own`: without pages of files and shared memory, which is what a database backend costs
 * beside the cache that all share.
 */
export function readProcessMemory(pid: number): { readonly resident: number; readonly own: number } {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const bytes = (name: string) => 1024 * Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
    return { resident: bytes('VmRSS'), own: bytes('RssAnon') };
  } catch {
    return { resident: 0, own: 0 };
  }
}

/** Bytes that a process and all below it hold, pages that several share divided by their number. */
export function readProportionalMemory(pid: number): number {
  return childProcessIdsOf(pid).reduce((sum, child) => sum + readProportionalMemory(child), pssOf(pid));
}

function pssOf(pid: number): number {
  try {
    return 1024 * Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
