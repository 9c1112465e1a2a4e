import { setTimeout as pause } from 'node:timers/promises';
import { fail, type Log } from '#kernel';
import type { JobScheduler, ScheduledJobHandle } from '../schedule/contract.ts';
import type { RetentionRule } from './contract.ts';
import type { HistoryLimits, OldHistory } from './old-history.ts';

/** The settings of the plugin; times in milliseconds. */
export interface RetentionConfig {
  readonly RETENTION_ENABLED: boolean;
  readonly RETENTION_SCHEDULE: string;
  readonly RETENTION_BATCH: number;
  readonly ACTIVITY_RETENTION: number;
  readonly REVISIONS_RETENTION: number;
  readonly FLOW_LOGS_RETENTION: number;
}

interface Deps {
  readonly schedule: Pick<JobScheduler, 'start' | 'isPattern'>;
  readonly config: RetentionConfig;
  readonly history: OldHistory;
  readonly rules: () => readonly RetentionRule[];
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
}

/** Milliseconds between two batches, at least. */
const MIN_PAUSE = 20;
/**
 * How many times as long as a batch took the pause after it lasts: a batch runs in a twentieth of the time, so no more than one request in
 * twenty meets one.
 */
const PAUSE_FACTOR = 19;
/** Milliseconds between two lines of the log about the progress. */
const PROGRESS_INTERVAL = 30_000;

export interface RetentionJob {
  /** @throws INVALID_CONFIG where RETENTION_SCHEDULE is no cron expression. */
  assertSettings(): void;
  start(): void;
  /** Resolves when the running batch has ended. */
  stop(): Promise<void>;
}

/** Deletes old records by RETENTION_SCHEDULE, in one process of all, in small batches with pauses between them. */
export function createRetentionJob({ schedule, config, history, rules, log }: Deps): RetentionJob {
  const { RETENTION_ENABLED: isEnabled, RETENTION_SCHEDULE: at, RETENTION_BATCH: batch } = config;
  const { ACTIVITY_RETENTION: activity, REVISIONS_RETENTION: revisions, FLOW_LOGS_RETENTION: runs } = config;
  let job: ScheduledJobHandle | undefined;

  async function runBatches(records: string, batches: AsyncGenerator<number>, signal: AbortSignal): Promise<number> {
    let total = 0;
    let reported = performance.now();
    let begun = performance.now();
    for await (const deleted of batches) {
      total += deleted;
      if (signal.aborted) break;
      const took = performance.now() - begun;
      await pause(Math.max(MIN_PAUSE, took * PAUSE_FACTOR), undefined, { signal }).catch(() => {});
      if (performance.now() - reported > PROGRESS_INTERVAL) {
        log.info({ records, deleted: total }, `retention: ${total} ${records} deleted so far`);
        reported = performance.now();
      }
      if (signal.aborted) break;
      begun = performance.now();
    }
    return total;
  }

  async function deleteOld(signal: AbortSignal): Promise<void> {
    const now = Date.now();
    const limits: HistoryLimits = {
      activity: new Date(now - activity),
      revisions: new Date(now - revisions),
      runs: new Date(now - runs),
    };
    const parts: readonly (readonly [string, () => AsyncGenerator<number>])[] = [
      ...rules().map(({ records, keep, deleteOld: run }) => [records, () => run(new Date(now - keep), batch)] as const),
      ['revisions', () => history.deleteRevisions(limits, batch)],
      ['rows of activity', () => history.deleteActivity(limits, batch)],
    ];
    const counts: Record<string, number> = {};
    for (const [records, begin] of parts) {
      if (signal.aborted) break;
      counts[records] = await runBatches(records, begin(), signal);
    }
    if (Object.values(counts).every((count) => count === 0)) return;
    const text = Object.entries(counts).map(([records, count]) => `${count} ${records}`);
    const ending = signal.aborted ? ' before the service stopped; the next run goes on' : '';
    log.info({ deleted: counts }, `retention: ${text.join(', ')} deleted${ending}`);
  }

  return {
    assertSettings() {
      if (!schedule.isPattern(at)) throw fail('INVALID_CONFIG', `RETENTION_SCHEDULE is not a cron pattern: ${at}`);
    },
    start() {
      if (!isEnabled) return;
      // `once`: also where no process was up at the time, or the one that ran it died.
      job = schedule.start({ name: 'retention', at, missed: 'once', log, run: ({ signal }) => deleteOld(signal) });
    },
    stop: async () => job?.stop(),
  };
}
