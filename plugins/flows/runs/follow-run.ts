import type { Log } from '#kernel';
import { PermanentJobError } from '../../queue/library.ts';
import type { FlowPlan } from '../plan/flow-plan.ts';
import type { RunRequest } from '../run/flow-runner.ts';
import type { RunOutcome } from '../run/run-chain.ts';
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

/** A run whose chain has come to an end, for good or in this process. */
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
export const isFollowed = ({ accountability, trigger }: FlowPlan, { id }: RunRequest): boolean =>
  accountability !== null && (id !== undefined || trigger === 'schedule');

/** The status of a run whose chain has come to an end; `waiting` for a job that was aborted, and runs again. */
export const statusOf = ({ id, signal }: RunRequest, { status }: RunOutcome): RunStatus =>
  id !== undefined && signal?.aborted && status !== 'resolve' ? 'waiting' : status;

export const createFollowRun =
  ({ underWay, cancellations, keptTriggers, log }: Deps): FollowRun =>
  async (id, plan, request, work) => {
    const { caller, signal } = request;
    const isQueued = request.id !== undefined;
    // The trigger of a job was kept when it was added.
    const kept = isQueued ? undefined : keptTriggers.seal(plan, request);
    const begun = await underWay
      .begin({ id, flow: plan.id, user: caller?.user ?? null, isQueued, kept })
      .catch((error) => {
        log.error({ err: error, flow: plan.id, run: id }, 'the begin of a run could not be recorded');
        return true;
      });
    if (!begun) throw new PermanentJobError('the run was cancelled, or its flow is gone');
    /** Stores that the run does not go on here: a job waits, since it runs again. */
    const leave = (error?: Error) =>
      (error && !isQueued ? underWay.refuse(id, error.message) : underWay.release(id)).catch((reason) =>
        log.error({ err: reason, flow: plan.id, run: id }, 'the status of a run could not be recorded'),
      );
    return cancellations.run(id, async (cancelled) => {
      const outcome = await work(signal ? AbortSignal.any([signal, cancelled]) : cancelled).catch(async (error) => {
        await leave(error as Error);
        throw error;
      });
      if (cancelled.aborted) return { outcome, status: 'cancelled' };
      const status = statusOf(request, outcome);
      if (status === 'waiting') await leave();
      return { outcome, status };
    });
  };
