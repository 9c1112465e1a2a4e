import { readFileSync } from 'node:fs';
import type { FreshDatabase } from '../../test/support/database.ts';

/** Linux counts processor time in ticks of 10 ms. */
const TICK_MS = 10;

/** Milliseconds of processor time a process has used so far, in user and kernel mode. */
function used(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return 0;
  }
}

/** Processor time of a server process and of the database backends that serve it, known by their application name. */
export async function cpuOf(pid: number, application: string, database: FreshDatabase): Promise<number> {
  const backends = await database.query<{ pid: number }>(
    'select pid from pg_stat_activity where datname = current_database() and application_name = $1',
    [application],
  );
  return [pid, ...backends.map((one) => one.pid)].reduce((sum, one) => sum + used(one), 0);
}
