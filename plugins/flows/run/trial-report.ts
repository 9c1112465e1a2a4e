import { randomUUID } from 'node:crypto';
import { type Caller, requestScope } from '#kernel';
import type { Db } from '../../database/contract.ts';
import type { FlowPlan } from '../plan/flow-plan.ts';
import type { FlowRunner } from './flow-runner.ts';
import { returnValueOf } from './return-value.ts';
import type { RunStep, StepStatus } from './step-records.ts';
import { type HeldEffect, runInTrial, Trial } from './trial.ts';

/** What a run would have done. Nothing of it has a secret. */
export interface TrialReport {
  readonly status: StepStatus;
  readonly steps: readonly (RunStep & { readonly result: unknown })[];
  /** What the flow would have returned. */
  readonly return: unknown;
  /** Rows that would have changed, as the history would have kept them. */
  readonly changes: unknown;
  readonly effects: readonly HeldEffect[];
}

/** Runs a flow without any effect. */
export type TryFlow = (plan: FlowPlan, caller: Caller, trigger: unknown) => Promise<TrialReport>;

/** Ends the unit of work of a trial with a rollback. */
class EndOfTrial extends Error {}

export function createTryFlow(db: Db, runner: FlowRunner): TryFlow {
  const CHANGES = db.sql`select a.action, a.collection, a.item, r.data, r.delta from ${db.read('platform_activity')} a
    left join ${db.read('platform_revisions')} r on r.activity = a.id where a.invocation = $1 order by a.id`;

  return async (plan, caller, trigger) => {
    const trial = new Trial();
    // It distinguishes the changes of the trial from others of the same request, and a command has no request.
    const invocation = `trial ${randomUUID()}`;
    let report: TrialReport | undefined;
    const run = async () => {
      const outcome = await runInTrial(trial, () => runner.run(plan, { trigger, caller }));
      const { rows } = await db.query(CHANGES, [invocation]);
      const { secrets, data, steps, status } = outcome;
      report = {
        status,
        steps: steps.map((step) => ({ ...step, result: secrets.redact(data[step.key]) })),
        return: secrets.redact(returnValueOf(outcome, plan.options.return)),
        changes: secrets.redact(rows),
        effects: trial.effects.map((one) => ({ ...one, effect: secrets.redact(one.effect) })),
      };
      throw new EndOfTrial();
    };
    const { id = invocation, trace } = requestScope.getStore() ?? {};
    const scope = { id, trace, invocation };
    await requestScope
      .run(scope, () => db.transaction(run))
      .catch((error) => {
        if (!(error instanceof EndOfTrial)) throw error;
      });
    return report as TrialReport;
  };
}
