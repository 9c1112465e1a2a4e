import type { Log } from '#kernel';
import type { RetentionRule } from '../../retention/contract.ts';
import type { JobScheduler, ScheduledJobHandle, ScheduledJobTick } from '../../schedule/contract.ts';
import type { LoadRunModel } from './load-run-model.ts';
import type { SettleRuns } from './settle-runs.ts';

interface Deps {
  readonly loadRunModel: LoadRunModel;
  readonly settleRuns: SettleRuns;
  readonly schedule: Pick<JobScheduler, 'start'>;
  /** FLOW_LOGS_RETENTION, in milliseconds. */
  readonly keep: number;
  readonly log: Log;
}

/** Milliseconds between two looks for runs of processes that died, and for kept triggers whose time is over. */
const INTERVAL = 600_000;

export interface RunCleanUp {
  /** Ended runs older than FLOW_LOGS_RETENTION, with their steps. Their activity and revisions are history, which `retention` deletes. */
  readonly rule: RetentionRule;
  start(): void;
  stop(): Promise<void>;
}

export function createRunCleanUp({ loadRunModel, settleRuns, schedule, keep, log }: Deps): RunCleanUp {
  let job: ScheduledJobHandle | undefined;

  async function forgetTriggers(): Promise<void> {
    const Run = await loadRunModel();
    await Run.query().patch({ trigger: null, trigger_until: null }).where('trigger_until', '<', new Date());
  }

  async function* deleteRuns(before: Date, limit: number): AsyncGenerator<number, void, undefined> {
    const Run = await loadRunModel();
    for (let deleted = limit; deleted === limit; ) {
      const old = Run.query()
        .select('id')
        .where('started', '<', before)
        .whereNotNull('ended')
        .orderBy('started')
        .limit(limit);
      deleted = await Run.query().delete().whereIn('id', old);
      yield deleted;
    }
  }

  return {
    rule: { records: 'runs of flows', keep, deleteOld: deleteRuns },
    start() {
      const look = async ({ signal }: ScheduledJobTick) => {
        await settleRuns.all(signal);
        await forgetTriggers();
      };
      job = schedule.start({ name: 'flow runs', at: { every: INTERVAL }, log, run: look });
    },
    stop: async () => job?.stop(),
  };
}
