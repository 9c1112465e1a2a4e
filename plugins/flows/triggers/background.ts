import type { EventsApi, Log } from '#kernel';
import type { CallerProvider } from '../../auth/contract.ts';
import type { Db } from '../../database/contract.ts';
import type { QueueApi } from '../../queue/contract.ts';
import type { JobScheduler, ScheduledJobHandle } from '../../schedule/contract.ts';
import type { SecretCipher } from '../../secrets/contract.ts';
import type { FlowPlan } from '../plan/flow-plan.ts';
import type { FlowPlans } from '../plan/flow-plans.ts';
import type { FlowRunner } from '../run/flow-runner.ts';
import { createRunStates } from '../state/run-states.ts';
import { startRunStateCleanUp } from '../state/state-clean-up.ts';
import { type AddedRun, type AsyncRuns, type BackgroundLimits, createAsyncRuns } from './async-runs.ts';
import { type BackgroundRuns, createBackgroundRuns } from './background-runs.ts';

interface Deps {
  readonly db: Db;
  readonly events: Pick<EventsApi, 'onAction'>;
  readonly queue: Pick<QueueApi, 'define'>;
  readonly schedule: JobScheduler;
  readonly secrets: SecretCipher;
  readonly identity: Pick<CallerProvider, 'ofUser' | 'ofPublic'>;
  readonly plans: FlowPlans;
  readonly runner: FlowRunner;
  readonly concurrency: number;
  readonly limits: BackgroundLimits;
  readonly log: Log;
  /** Called when a run becomes a job, and where its job cannot run it. Never reject. */
  readonly onAdded: (id: string, plan: FlowPlan, run: AddedRun) => Promise<void>;
  readonly onRefused: (id: string, message: string) => Promise<void>;
}

/** Runs whose end no client waits for, by all triggers. */
export interface Background {
  readonly asyncRuns: AsyncRuns;
  readonly backgroundRuns: BackgroundRuns;
  /** Interrupted runs are handed over: another process goes on with them. */
  stop(): Promise<void>;
}

export function createBackground({ db, events, schedule, ...deps }: Deps): Background {
  const states = createRunStates({ db, secrets: deps.secrets });
  const asyncRuns = createAsyncRuns({ ...deps, states });
  const backgroundRuns = createBackgroundRuns({ ...deps, states, asyncRuns });
  let cleanUp: ScheduledJobHandle | undefined;
  events.onAction('server.start', () => {
    cleanUp = startRunStateCleanUp(schedule, states, deps.log);
  });
  return {
    asyncRuns,
    backgroundRuns,
    async stop() {
      await cleanUp?.stop();
      await asyncRuns.stop();
      await backgroundRuns.waitForEnd();
    },
  };
}
