import type { Log } from '#kernel';
import { PermanentJobError } from '../../queue/library.ts';
import type { FlowPlan } from '../plan/flow-plan.ts';
import type { RunRequest } from '../run/flow-runner.ts';
import type { RunOutcome } from '../run/run-chain.ts';
import { RunBreak } from '../state/run-break.ts';
import type { KeptTriggers } from './kept-trigger.ts';
import type { RunCancellations } from './run-cancellations.ts';
import type { RunStatus } from './run-statuses.ts';
import type { RunsUnderWay } from './runs-under-way.ts';

interface Deps {
  readonly underWay: Pick<RunsUnderWay, 'begin' | 'refuse' | 'release'>;
  readonly cancellations: RunCancellations;
  readonly keptTriggers: KeptTriggers;
  readonly log: Pick<Log, 'error'>;
}

/** A run whose chain has come to an end. */
export interface FollowedRun {
  readonly outcome: RunOutcome;
  readonly status: RunStatus;
}

/**
 * Runs the chain of a run that no client waits for: it is seen while it runs, and can be cancelled. Jobs have an id, by which they run again.
 * @throws PermanentJobError where the run was cancelled before
 */
export type FollowRun = (
  id: string,
  plan: FlowPlan,
  request: RunRequest,
  work: (signal: AbortSignal | undefined) => Promise<RunOutcome>,
) => Promise<FollowedRun>;

/** Whether a run is stored before it ends. A statement more is no matter there; where a client waits, it would be. */
export const isFollowed = ({ accountability, trigger }: FlowPlan, { isJob = false }: RunRequest): boolean =>
  accountability !== null && (isJob || trigger === 'schedule');

export const createFollowRun =
  ({ underWay, cancellations, keptTriggers, log }: Deps): FollowRun =>
  async (id, plan, request, work) => {
    const { caller, signal } = request;
    const { isJob: isQueued = false } = request;
    // The trigger of a job was kept when it was added.
    const kept = isQueued ? undefined : keptTriggers.seal(plan, request);
    const begun = await underWay
      .begin({ id, flow: plan.id, user: caller?.user ?? null, isQueued, kept })
      .catch((error) => {
        log.error({ err: error, flow: plan.id, run: id }, 'the begin of a run could not be recorded');
        return true;
      });
    if (!begun) throw new PermanentJobError('the run was cancelled, or its flow is gone');
    /** Stores that the run does not end here: a job waits, and so does a run that is handed over to one. */
    const leave = (error: Error) =>
      (isQueued || error instanceof RunBreak ? underWay.release(id) : underWay.refuse(id, error.message)).catch(
        (reason) => log.error({ err: reason, flow: plan.id, run: id }, 'the status of a run could not be recorded'),
      );
    return cancellations.run(id, async (cancelled) => {
      const outcome = await work(signal ? AbortSignal.any([signal, cancelled]) : cancelled).catch(async (error) => {
        await leave(error as Error);
        throw error;
      });
      return { outcome, status: cancelled.aborted ? 'cancelled' : outcome.status };
    });
  };
