import type { Caller, Log } from '#kernel';
import type { HistoryRecorder } from '../../activity/contract.ts';
import type { FlowPlan } from '../plan/flow-plan.ts';
import type { RunOutcome } from '../run/run-chain.ts';
import type { AddEndedRun } from './ended-runs.ts';
import type { KeptTrigger } from './kept-trigger.ts';
import type { FlowParking } from './park-flows.ts';
import type { RunCounters } from './run-counters.ts';
import type { RunStatus } from './run-statuses.ts';
import type { UnrecordedEnds } from './unrecorded-ends.ts';

/** An ended run, as its runner hands it over. */
export interface RunToRecord {
  readonly id: string;
  readonly plan: FlowPlan;
  readonly outcome: RunOutcome;
  readonly status: RunStatus;
  /** Who acts in the history. */
  readonly actor: Caller;
  readonly started: Date;
  /** The run is stored already, as one under way. */
  readonly isFollowed: boolean;
  readonly kept?: KeptTrigger | undefined;
}

interface Deps {
  readonly activity: Pick<HistoryRecorder, 'record'>;
  readonly addEndedRun: AddEndedRun;
  readonly unrecordedEnds: Pick<UnrecordedEnds, 'add'>;
  readonly log: Pick<Log, 'error'>;
}

/**
 * Records a run as its flow wants it (specification, "Flow record"): activity, revision and steps; activity and the run alone; or nothing.
 * Never rejects.
 */
export const createRecordRun =
  ({ activity, addEndedRun, unrecordedEnds, log }: Deps) =>
  async ({ actor, ...run }: RunToRecord): Promise<void> => {
    const { plan, outcome } = run;
    if (plan.accountability === null) return;
    try {
      const data =
        plan.accountability === 'all' ? (outcome.secrets.redact(outcome.data) as Record<string, unknown>) : undefined;
      const recorded = await activity.record(actor, {
        action: 'run',
        collection: 'platform_flows',
        item: plan.id,
        ...(data ? { revision: { steps: outcome.steps, data } } : {}),
      });
      await addEndedRun({ ...run, user: actor.user, activity: recorded, data });
    } catch (error) {
      log.error({ err: error, flow: plan.id }, 'a run of a flow could not be recorded');
      if (run.isFollowed) unrecordedEnds.add(run.id);
    }
  };

export type RecordRun = ReturnType<typeof createRecordRun>;

/** Counts an ended run, and keeps its failure for the case that its flow is parked. */
export function countRun(counters: RunCounters, parking: FlowParking, plan: FlowPlan, outcome: RunOutcome): void {
  const isFailure = outcome.status !== 'resolve';
  const isParkable = isFailure && parking.limitOf(plan) > 0;
  if (isParkable) {
    const text = JSON.stringify(outcome.secrets.redact(outcome.data.$last)) ?? 'null';
    parking.noteFailure(plan.id, `${outcome.lastStep ?? 'the first operation'}: ${text}`);
  }
  counters.count(plan.id, isFailure, isParkable);
}
