import { AsyncLocalStorage } from 'node:async_hooks';
import type { Log } from '#kernel';
import type { Db } from '../../database/contract.ts';

/** How often a flow ran since it was created, in all processes, as of five seconds ago at most. */
export interface FlowCounts {
  readonly runs: number;
  readonly failures: number;
  readonly last_run: Date | null;
  readonly last_failure: Date | null;
}

/** A flow after its counts were stored. */
export interface StoredCount {
  readonly flow: string;
  /** Failures since its last success. */
  readonly failures_in_row: number;
}

export interface RunCounters {
  /** Counts an ended run. `isUrgent`: the count is stored at once, since something depends on it. */
  count(flow: string, isFailure: boolean, isUrgent: boolean): void;
  read(flow: string): Promise<FlowCounts>;
  /** Stores what was counted. */
  stop(): Promise<void>;
}

/** What was counted of a flow since the last time. Times are ISO 8601. */
interface Count {
  readonly flow: string;
  runs: number;
  failures: number;
  /** Failures since the last success among these runs. */
  in_row: number;
  last_run: string;
  last_failure: string | null;
}

interface Deps {
  readonly db: Db;
  readonly log: Pick<Log, 'warn'>;
  /** Called with the flows whose counts were stored and that failed. Never rejects. */
  readonly onFailures: (stored: readonly StoredCount[]) => Promise<void>;
}

/** Milliseconds between a count and the statement that stores it with all others. */
const INTERVAL = 5000;

/** Counts runs in memory and stores them in batches: a run costs no statement. A process that is killed loses the last five seconds. */
export function createRunCounters({ db, log, onFailures }: Deps): RunCounters {
  const counters = db.own('platform_flow_counters');
  // A batch with a success begins the failures in a row anew. The order prevents deadlocks between processes.
  const ADD = db.sql`insert into ${counters} as c (flow, runs, failures, failures_in_row, last_run, last_failure)
    select f.id, d.runs, d.failures, d.in_row, d.last_run, d.last_failure
    from jsonb_to_recordset($1::jsonb) d(flow uuid, runs integer, failures integer, in_row integer, last_run timestamptz, last_failure timestamptz)
    join ${db.read('platform_flows')} f on f.id = d.flow order by f.id
    on conflict (flow) do update set runs = c.runs + excluded.runs, failures = c.failures + excluded.failures,
      failures_in_row = case when excluded.runs > excluded.failures_in_row then excluded.failures_in_row
        else least(c.failures_in_row + excluded.failures_in_row, 1000000000) end,
      last_run = greatest(c.last_run, excluded.last_run), last_failure = greatest(c.last_failure, excluded.last_failure)
    returning flow, failures_in_row`;
  const READ = db.sql`select runs::float8, failures::float8, last_run, last_failure from ${counters} where flow = $1`;
  // The timer must not run in the unit of work of the request that was counted.
  const outside = AsyncLocalStorage.snapshot();
  let counts = new Map<string, Count>();
  let timer: NodeJS.Timeout | undefined;
  let storing: Promise<void> = Promise.resolve();

  async function store(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (counts.size === 0) return;
    const batch = counts;
    counts = new Map();
    let stored: readonly StoredCount[];
    try {
      stored = (await db.query<StoredCount>(ADD, [JSON.stringify([...batch.values()])])).rows;
    } catch (error) {
      log.warn({ err: error }, 'runs of flows could not be counted; the service tries again');
      counts = sumCounts(batch, counts);
      startTimer();
      return;
    }
    const failing = stored.filter(({ failures_in_row: failures }) => failures > 0);
    if (failing.length > 0) await onFailures(failing);
  }

  function storeSoon(): Promise<void> {
    storing = storing.then(() => outside(store));
    return storing;
  }

  function startTimer(): void {
    timer ??= outside(() => setTimeout(() => void storeSoon(), INTERVAL).unref());
  }

  return {
    count(flow, isFailure, isUrgent) {
      const now = new Date().toISOString();
      const one = counts.get(flow) ?? { flow, runs: 0, failures: 0, in_row: 0, last_run: now, last_failure: null };
      counts.set(flow, one);
      one.runs++;
      one.last_run = now;
      one.in_row = isFailure ? one.in_row + 1 : 0;
      if (isFailure) {
        one.failures++;
        one.last_failure = now;
      }
      if (isFailure && isUrgent) void storeSoon();
      else startTimer();
    },
    async read(flow) {
      await storeSoon();
      const { rows } = await db.query<FlowCounts>(READ, [flow]);
      return rows[0] ?? { runs: 0, failures: 0, last_run: null, last_failure: null };
    },
    stop: storeSoon,
  };
}

/** Counts that could not be stored, and those that came after them. */
function sumCounts(before: ReadonlyMap<string, Count>, after: ReadonlyMap<string, Count>): Map<string, Count> {
  const sums = new Map(before);
  for (const [flow, one] of after) {
    const earlier = before.get(flow);
    if (!earlier) {
      sums.set(flow, one);
      continue;
    }
    const isBroken = one.runs > one.in_row;
    sums.set(flow, {
      ...one,
      runs: earlier.runs + one.runs,
      failures: earlier.failures + one.failures,
      in_row: isBroken ? one.in_row : earlier.in_row + one.in_row,
      last_failure: one.last_failure ?? earlier.last_failure,
    });
  }
  return sums;
}
