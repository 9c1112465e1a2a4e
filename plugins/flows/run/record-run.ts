import type { Caller } from '#kernel';
import type { HistoryRecorder } from '../../activity/contract.ts';
import type { FlowPlan } from '../plan/flow-plan.ts';
import type { RunOutcome } from './run-chain.ts';

/**
 * Records a run as its flow wants it (specification, "Flow record"): activity and revision, activity alone, or nothing. Answers the id of
 * the activity.
 */
export async function recordRun(
  activity: Pick<HistoryRecorder, 'record'>,
  actor: Caller,
  { id, accountability }: FlowPlan,
  outcome: RunOutcome,
): Promise<number | undefined> {
  if (accountability === null) return undefined;
  const revision =
    accountability === 'all' ? { steps: outcome.steps, data: outcome.secrets.redact(outcome.data) } : undefined;
  return activity.record(actor, {
    action: 'run',
    collection: 'platform_flows',
    item: id,
    ...(revision ? { revision } : {}),
  });
}
