import type { Log } from '#kernel';
import type { JobScheduler, ScheduledJobHandle } from '../schedule/contract.ts';
import type { JobList } from './job-list.ts';
import type { JobQueues } from './job-queues.ts';
import type { JobStore } from './job-store.ts';

/** Milliseconds between two clean-ups. */
const INTERVAL = 600_000;

interface Deps {
  readonly schedule: Pick<JobScheduler, 'start'>;
  readonly queues: Pick<JobQueues, 'list'>;
  readonly list: Pick<JobList, 'deleteEnded'>;
  readonly store: Pick<JobStore, 'isInstalled'>;
  readonly log: Log;
}

/** Starts the job that deletes completed and cancelled jobs when their time is over. pg-boss deletes dead letters itself. */
export const startEndedJobCleanUp = ({ schedule, queues, list, store, log }: Deps): ScheduledJobHandle =>
  schedule.start({
    name: 'queue clean-up',
    at: { every: INTERVAL },
    log,
    async run({ signal }) {
      if (!(await store.isInstalled())) return;
      for (const { options } of queues.list()) {
        if (signal.aborted) return;
        await list.deleteEnded(options.name, options.keepCompleted);
      }
    },
  });
