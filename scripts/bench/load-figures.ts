import type { FreshDatabase } from '../../test/support/database.ts';
import type { BenchTarget } from './compared-servers.ts';
import { type LoadResult, runLoad } from './http-load-generator.ts';
import { cpuByProcess, findServerProcesses } from './process-cpu-memory.ts';

/** Requests per second, and milliseconds of CPU per request, of the server process and its database backends together. */
export interface LoadFigures {
  readonly perSecond: number;
  readonly cpu: number;
  /** The part of `cpu` that the server process used. */
  readonly serverCpu: number;
}

/** Puts load on a server and measures its rate and CPU time. Throws where a request failed. */
export async function measureLoad(
  target: BenchTarget,
  next: () => Buffer,
  { connections, seconds }: { readonly connections: number; readonly seconds: number },
  database: FreshDatabase,
): Promise<LoadFigures> {
  const usage = async () => {
    const { server, backends } = await findServerProcesses(target.pid, target.application, database);
    return { server, cpu: cpuByProcess([server, ...backends]) };
  };
  const before = await usage();
  const { requests: sent, failed, seconds: took }: LoadResult = await runLoad(target.url, next, connections, seconds);
  const after = await usage();
  if (failed > 0) throw new Error(`${failed} of ${sent} requests failed`);
  const used = (pid: number) => (after.cpu.get(pid) ?? 0) - (before.cpu.get(pid) ?? 0);
  const cpu = [...after.cpu.keys()].reduce((sum, pid) => sum + used(pid), 0);
  return { perSecond: sent / took, cpu: cpu / sent, serverCpu: used(after.server) / sent };
}

/** The median of each figure over the rounds. */
export const medians = (figures: readonly LoadFigures[]): LoadFigures => ({
  perSecond: median(figures.map((one) => one.perSecond)),
  cpu: median(figures.map((one) => one.cpu)),
  serverCpu: median(figures.map((one) => one.serverCpu)),
});

/** The median of these numbers; the larger middle one of an even count. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
