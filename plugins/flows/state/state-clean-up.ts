import type { Log } from '#kernel';
import type { JobScheduler, ScheduledJobHandle } from '../../schedule/contract.ts';
import type { RunStates } from './run-states.ts';

/** Milliseconds between two clean-ups. */
const INTERVAL = 3_600_000;

/** Starts the job that deletes what ended and abandoned runs have left behind. */
export const startRunStateCleanUp = (
  schedule: Pick<JobScheduler, 'start'>,
  states: Pick<RunStates, 'deleteOld'>,
  log: Log,
): ScheduledJobHandle =>
  schedule.start({
    name: 'flow run clean-up',
    at: { every: INTERVAL },
    // Also where no process is ever up at a full hour.
    missed: 'once',
    log,
    run: () => states.deleteOld(),
  });
