import { fail } from '#kernel';
import type { SecretCipher } from '../../secrets/contract.ts';
import type { FlowPlans } from '../plan/flow-plans.ts';
import type { AsyncRuns } from '../triggers/async-runs.ts';
import type { KeptTriggers } from './kept-trigger.ts';
import type { LoadRunModel } from './load-run-model.ts';
import { isUnderWay } from './run-statuses.ts';

interface Deps {
  readonly loadRunModel: LoadRunModel;
  readonly secrets: Pick<SecretCipher, 'available'>;
  readonly keptTriggers: Pick<KeptTriggers, 'open'>;
  readonly plans: Pick<FlowPlans, 'current'>;
  readonly asyncRuns: Pick<AsyncRuns, 'add'>;
}

/**
 * Starts a run again, from its start, with the trigger it had and for the caller it had, as a job. Answers the id of the new run and its flow.
 * @throws FORBIDDEN without such a run; INVALID_PAYLOAD, with what to do, for one that cannot be started again
 */
export type RetryRun = (run: string, flow?: string) => Promise<{ readonly flow: string; readonly run: string }>;

export const createRetryRun =
  ({ loadRunModel, secrets, keptTriggers, plans, asyncRuns }: Deps): RetryRun =>
  async (id, flow) => {
    const Run = await loadRunModel();
    const run = await Run.query().findOne(flow === undefined ? { id } : { id, flow });
    if (!run) throw fail('FORBIDDEN', 'no run has this id');
    if (isUnderWay(run.status)) throw fail('INVALID_PAYLOAD', `The run has not ended: its status is ${run.status}.`);
    if (!secrets.available())
      throw fail(
        'INVALID_PAYLOAD',
        'Runs are started again from triggers that are kept encrypted: set SECRETS_ENCRYPTION_KEY, and the option "keepTrigger" of the flow.',
      );
    if (run.trigger === null || run.trigger_until === null || run.trigger_until.getTime() < Date.now())
      throw fail(
        'INVALID_PAYLOAD',
        'The trigger of the run was not kept, or not for so long: the option "keepTrigger" of the flow, such as "7d", keeps those of later runs.',
      );
    const opened = keptTriggers.open(run.trigger);
    if (!opened) throw fail('INVALID_PAYLOAD', 'The trigger of the run was kept with another SECRETS_ENCRYPTION_KEY.');
    const plan = (await plans.current()).get(run.flow);
    if (!plan) throw fail('INVALID_PAYLOAD', 'The flow is inactive: set its status to "active" first.');
    const { caller, trigger } = opened;
    return { flow: plan.id, run: await asyncRuns.add(plan, { caller, trigger, retryOf: id }) };
  };
