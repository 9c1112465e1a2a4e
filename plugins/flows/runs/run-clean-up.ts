import { fail, type Log } from '#kernel';
import type { Db } from '../../database/contract.ts';
import type { JobScheduler, ScheduledJobHandle, ScheduledJobTick } from '../../schedule/contract.ts';
import type { LoadRunModel } from './load-run-model.ts';
import type { SettleRuns } from './settle-runs.ts';

/** Settings that begin with RETENTION_ are those of the whole service (conventions, "Logging, metrics, health, retention"). */
export interface RetentionSettings {
  readonly RETENTION_ENABLED: boolean;
  readonly RETENTION_SCHEDULE: string;
  readonly RETENTION_BATCH: number;
  /** Milliseconds. */
  readonly FLOW_LOGS_RETENTION: number;
}

interface Deps {
  readonly db: Db;
  readonly loadRunModel: LoadRunModel;
  readonly settleRuns: SettleRuns;
  readonly schedule: Pick<JobScheduler, 'start' | 'isPattern'>;
  readonly settings: RetentionSettings;
  readonly log: Log;
}

/** Milliseconds between two looks for runs of processes that died, and for kept triggers whose time is over. */
const INTERVAL = 600_000;

export interface RunCleanUp {
  /** @throws INVALID_CONFIG where RETENTION_SCHEDULE is no cron expression. */
  assertSettings(): void;
  start(): void;
  stop(): Promise<void>;
}

export function createRunCleanUp({ db, loadRunModel, settleRuns, schedule, settings, log }: Deps): RunCleanUp {
  const activity = db.write('platform_activity');
  const OLD_HISTORY = db.sql`with old as (
      select id from ${activity} where action = 'run' and collection = 'platform_flows' and timestamp < $1 order by timestamp limit $2),
    gone as (delete from ${db.write('platform_revisions')} r using old where r.activity = old.id)
    delete from ${activity} a using old where a.id = old.id`;
  const { RETENTION_ENABLED: isEnabled, RETENTION_SCHEDULE: at } = settings;
  const { RETENTION_BATCH: batch, FLOW_LOGS_RETENTION: kept } = settings;
  let jobs: readonly ScheduledJobHandle[] = [];

  async function forgetTriggers(): Promise<void> {
    const Run = await loadRunModel();
    await Run.query().patch({ trigger: null, trigger_until: null }).where('trigger_until', '<', new Date());
  }

  async function deleteRuns(before: Date, limit: number): Promise<number> {
    const Run = await loadRunModel();
    const old = Run.query()
      .select('id')
      .where('started', '<', before)
      .whereNotNull('ended')
      .orderBy('started')
      .limit(limit);
    return Run.query().delete().whereIn('id', old);
  }

  async function deleteOld(signal: AbortSignal): Promise<void> {
    const before = new Date(Date.now() - kept);
    const deleteHistory = async () => (await db.query(OLD_HISTORY, [before, batch])).count;
    for (const deleteBatch of [() => deleteRuns(before, batch), deleteHistory])
      while (!signal.aborted && (await deleteBatch()) === batch);
  }

  return {
    assertSettings() {
      if (!schedule.isPattern(at)) throw fail('INVALID_CONFIG', `RETENTION_SCHEDULE is not a cron pattern: ${at}`);
    },
    start() {
      const look = async ({ signal }: ScheduledJobTick) => {
        await settleRuns.all(signal);
        await forgetTriggers();
      };
      jobs = [schedule.start({ name: 'flow runs', at: { every: INTERVAL }, log, run: look })];
      if (!isEnabled) return;
      const run = ({ signal }: ScheduledJobTick) => deleteOld(signal);
      jobs = [...jobs, schedule.start({ name: 'flow runs retention', at, log, run })];
    },
    stop: async () => void (await Promise.all(jobs.map((job) => job.stop()))),
  };
}
