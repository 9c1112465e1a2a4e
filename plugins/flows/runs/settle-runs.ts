import type { AsyncRuns } from '../triggers/async-runs.ts';
import type { LoadRunModel } from './load-run-model.ts';
import type { RunsUnderWay } from './runs-under-way.ts';

interface Deps {
  readonly loadRunModel: LoadRunModel;
  readonly underWay: Pick<RunsUnderWay, 'settle' | 'interrupt'>;
  readonly asyncRuns: Pick<AsyncRuns, 'state'>;
}

/** Corrects the status of runs that are stored as under way though nothing runs them any more. */
export interface SettleRuns {
  /** Those of a flow whose process died. */
  ofFlow(flow: string): Promise<void>;
  /** One run that waits, and whose job may be a dead letter. */
  ofWaiting(run: string): Promise<void>;
  /** All of them. */
  all(signal: AbortSignal): Promise<void>;
}

/** Milliseconds that a run waits before its job is looked for. */
const DELAY = 60_000;
const MAX_JOBS = 1000;

export function createSettleRuns({ loadRunModel, underWay, asyncRuns }: Deps): SettleRuns {
  async function ofWaiting(run: string): Promise<void> {
    const state = await asyncRuns.state(run);
    if (state === 'waiting' || state === 'running') return;
    const message =
      state === 'failed'
        ? `each process that ran it has ended; POST /queues/flow-runs/jobs/${run}/retry runs it once more`
        : 'its job is gone';
    await underWay.interrupt(run, message);
  }
  return {
    ofFlow: (flow) => underWay.settle(flow),
    ofWaiting,
    async all(signal) {
      await underWay.settle();
      const Run = await loadRunModel();
      const waiting = await Run.query()
        .select('id')
        .where({ status: 'waiting', queued: true })
        .where('started', '<', new Date(Date.now() - DELAY))
        .orderBy('started')
        .limit(MAX_JOBS);
      for (const { id } of waiting) if (!signal.aborted) await ofWaiting(id);
    },
  };
}
