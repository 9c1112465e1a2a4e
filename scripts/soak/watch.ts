import type { FreshDatabase } from '../../test/support/database.ts';
import { readProcessMemory } from '../bench/process-cpu-memory.ts';

const STATEMENT_INTERVAL_MS = 50;
const MEMORY_INTERVAL_MS = 500;
const MB = 2 ** 20;

export interface MemorySample {
  /** Seconds since the watch began. */
  readonly at: number;
  readonly megabytes: number;
}

export interface SlowestStatement {
  readonly ms: number;
  readonly text: string;
  /** The wait event when last seen; null where the statement was executing. */
  readonly waiting: string | null;
}

/** Watches the memory and the statements of a service until `stop` is called. */
export function watchServiceResources(pid: number, application: string, database: FreshDatabase) {
  const started = Date.now();
  const samples: MemorySample[] = [];
  let slowest: SlowestStatement = { ms: 0, text: '', waiting: null };
  const memory = setInterval(() => {
    samples.push({ at: (Date.now() - started) / 1000, megabytes: readProcessMemory(pid).resident / MB });
  }, MEMORY_INTERVAL_MS);
  let isQuerying = false;
  const statements = setInterval(async () => {
    if (isQuerying) return;
    isQuerying = true;
    try {
      const [found] = await database.query<SlowestStatement>(
        `select extract(epoch from clock_timestamp() - query_start)::float8 * 1000 as ms, left(query, 300) as text,
           wait_event_type || ' ' || wait_event as waiting from pg_stat_activity
         where datname = current_database() and application_name = $1 and state = 'active' order by query_start limit 1`,
        [application],
      );
      if (found && found.ms > slowest.ms) slowest = found;
    } finally {
      isQuerying = false;
    }
  }, STATEMENT_INTERVAL_MS);
  return {
    samples: samples as readonly MemorySample[],
    slowest: (): SlowestStatement => slowest,
    stop() {
      clearInterval(memory);
      clearInterval(statements);
    },
  };
}

/**
 * Growth of memory once warm, in percent: the last quarter of the time against the second, by medians, since
 * garbage makes single samples jump.
 */
export function computeMemoryGrowthPercent(samples: readonly MemorySample[]): number {
  const length = samples.at(-1)?.at ?? 0;
  const during = (from: number, to: number) =>
    median(samples.filter(({ at }) => at >= length * from && at <= length * to).map(({ megabytes }) => megabytes));
  return (during(0.75, 1) / during(0.25, 0.5) - 1) * 100;
}

/** MB a minute, by least squares over the time after the first quarter. */
export function computeMemorySlope(samples: readonly MemorySample[]): number {
  const warm = samples.filter(({ at }) => at >= (samples.at(-1)?.at ?? 0) / 4);
  const mean = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
  const [x, y] = [mean(warm.map((one) => one.at)), mean(warm.map((one) => one.megabytes))];
  const above = warm.reduce((sum, one) => sum + (one.at - x) * (one.megabytes - y), 0);
  const below = warm.reduce((sum, one) => sum + (one.at - x) ** 2, 0);
  return (above / below) * 60;
}

function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
