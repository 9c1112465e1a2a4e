import type { Log } from '#kernel';
import type { Route } from '../../http/contract.ts';
import type { ItemsEngine } from '../../items/contract.ts';
import type { JobScheduler } from '../../schedule/contract.ts';
import type { SecretCipher } from '../../secrets/contract.ts';
import type { FlowPlans } from '../plan/flow-plans.ts';
import type { AsyncRuns } from '../triggers/async-runs.ts';
import { createCancelRun } from './cancel-run.ts';
import { createRetryRun, type RetryRun } from './retry-run.ts';
import { createRunCleanUp, type RunCleanUp } from './run-clean-up.ts';
import type { RunRecords } from './run-records.ts';
import { runRoutes } from './run-routes.ts';
import { createSettleRuns, type SettleRuns } from './settle-runs.ts';

interface Deps {
  readonly records: RunRecords;
  readonly asyncRuns: AsyncRuns;
  readonly used: {
    readonly items: Pick<ItemsEngine, 'readOne'>;
    readonly schedule: JobScheduler;
    readonly secrets: SecretCipher;
  };
  readonly plans: Pick<FlowPlans, 'current'>;
  /** FLOW_LOGS_RETENTION, in milliseconds. */
  readonly keep: number;
  readonly log: Log;
}

/** What admins and the clock do with stored runs. */
export interface RunControl {
  readonly settleRuns: SettleRuns;
  readonly retryRun: RetryRun;
  readonly cleanUp: RunCleanUp;
  readonly routes: readonly Route[];
}

export function createRunControl({ records, asyncRuns, used, plans, keep, log }: Deps): RunControl {
  const { items, schedule, secrets } = used;
  const { list: runs, counters } = records;
  const settleRuns = createSettleRuns({ ...records, asyncRuns });
  const retryRun = createRetryRun({ ...records, secrets, plans, asyncRuns });
  const cancelRun = createCancelRun({ ...records, asyncRuns });
  return {
    settleRuns,
    retryRun,
    cleanUp: createRunCleanUp({ ...records, settleRuns, schedule, keep, log }),
    routes: runRoutes({ items, runs, counters, settleRuns, cancelRun, retryRun }),
  };
}
