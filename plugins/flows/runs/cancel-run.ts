import type { AsyncRuns } from '../triggers/async-runs.ts';
import type { RunCancellations } from './run-cancellations.ts';
import type { RunsUnderWay } from './runs-under-way.ts';

interface Deps {
  readonly underWay: Pick<RunsUnderWay, 'cancel'>;
  readonly cancellations: Pick<RunCancellations, 'announce'>;
  readonly asyncRuns: Pick<AsyncRuns, 'cancel'>;
}

/** Cancels a run that waits or runs, in any process; false where it has ended. Its operation under way ends by itself where it takes no signal. */
export type CancelRun = (id: string) => Promise<boolean>;

export const createCancelRun =
  ({ underWay, cancellations, asyncRuns }: Deps): CancelRun =>
  async (id) => {
    // The row comes first: a process that begins the job meanwhile finds it cancelled, and one that ends the run leaves it so.
    if (!(await underWay.cancel(id))) return false;
    await cancellations.announce(id);
    await asyncRuns.cancel(id);
    return true;
  };
