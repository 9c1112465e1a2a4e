import { fail } from '#kernel';
import type { Db } from '../../database/contract.ts';
import type { FlowOperationRegistry } from '../contract.ts';
import type { FlowPlan, OperationPlan } from '../plan/flow-plan.ts';
import { missingSecretsOf } from '../secrets/secret-options.ts';
import { RunBreak, RunCancellation, RunSuspension } from '../state/run-break.ts';
import { toErrorValue } from './error-value.ts';
import type { RunInput } from './run-chain.ts';
import type { RunWaiter } from './run-waits.ts';
import { runAttempt, toJsonValue } from './step-attempt.ts';
import { retryDelayOf, type StepPolicy, splitPolicy } from './step-policy.ts';
import type { ExecutedStep, StepStatus } from './step-records.ts';
import { renderOptions } from './templates.ts';

type Options = Readonly<Record<string, unknown>>;

export interface RunStepDeps {
  readonly operations: () => FlowOperationRegistry;
  readonly db: Pick<Db, 'isInUnitOfWork' | 'transaction'>;
  readonly waiter: RunWaiter;
  /** Aborts when the service stops. */
  readonly stopping: AbortSignal;
}

/** An operation at its place in a run. */
export interface StepPlace {
  readonly plan: FlowPlan;
  readonly operation: OperationPlan;
  /** From 0. */
  readonly position: number;
  readonly input: RunInput;
  readonly data: Readonly<Record<string, unknown>>;
  readonly reader: { readonly admin: boolean };
}

/** What an operation came to. */
export interface StepResult extends ExecutedStep {
  readonly error?: unknown;
}

/**
 * Runs an operation with its retries, and stores its end in the state of the run, where the run has one. A failure is a result.
 * @throws RunBreak
 */
export async function runStep(deps: RunStepDeps, place: StepPlace): Promise<StepResult> {
  const { operation, position, input } = place;
  const { state, secrets } = input;
  // Secrets are looked for now only where they have to be stored with the step.
  const before = state ? secrets.noted().length : 0;
  const started = Date.now();
  const missing = new Set<string>();
  const kind = deps.operations().find(operation.type);
  let attempt = state?.wait(position, 'retry')?.attempt ?? 1;

  const settle = async (status: StepStatus, value: unknown): Promise<StepResult> => {
    secrets.note(value);
    const duration = Date.now() - started;
    if (state)
      await state.addStep(position, {
        ...{ operation: operation.id, started, duration, status, value, options: operation.options },
        ...{ missing: [...missing], attempts: attempt, secrets: secrets.noted().slice(before) },
      });
    return { operation, kind, status, value, missing, attempts: attempt, started, duration };
  };

  /** False where the run may not wait so long. */
  const waitForRetry = (policy: StepPolicy): Promise<boolean> => {
    const milliseconds = retryDelayOf(policy, attempt - 1);
    const signal = input.signal ?? deps.stopping;
    return deps.waiter.wait(input.waits, state, { milliseconds, position, reason: 'retry', attempt, signal });
  };

  try {
    const rendered = renderOptions(operation.options, place.data, (path) => void missing.add(path));
    secrets.note(rendered);
    const { policy, own } = splitPolicy(rendered);
    if (kind === undefined) return await settle('unknown', null);
    if (kind === 'ambiguous') throw new Error(`several plugins have the operation "${operation.type}"`);
    const [unset] = missingSecretsOf(kind, operation.options);
    if (unset) throw fail('INVALID_PAYLOAD', `the secret option "${unset}" has no stored value: enter it again`);
    // Values that SQL has written, or that come from data of the run.
    for (const name of kind.secretOptions ?? []) secrets.note((own as Options)[name], true);
    if (attempt > 1) await waitForRetry(policy);
    for (;;) {
      try {
        const one = { kind, options: own as Options, policy, attempt };
        return await runAttempt(deps, place, one, (value) => settle('resolve', value));
      } catch (error) {
        if (error instanceof RunBreak || input.signal?.aborted || attempt > (policy.retries ?? 0)) throw error;
        attempt++;
        if (await waitForRetry(policy)) continue;
        attempt--;
        throw error;
      }
    }
  } catch (error) {
    if (error instanceof RunBreak) throw error;
    // A run with a state goes on elsewhere, unless it was cancelled; one without ends here.
    const isLeft = input.signal?.aborted || deps.stopping.aborted;
    if (state && isLeft && !(input.signal?.reason instanceof RunCancellation)) throw new RunSuspension(new Date());
    return { ...(await settle('reject', toJsonValue(toErrorValue(error, place.reader)))), error };
  }
}
