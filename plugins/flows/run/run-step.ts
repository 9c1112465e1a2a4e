import type { Db } from '../../database/contract.ts';
import type { FlowOperationKind, FlowOperationRegistry } from '../contract.ts';
import type { FlowPlan, OperationPlan } from '../plan/flow-plan.ts';
import { RunBreak, RunSuspension } from '../state/run-break.ts';
import type { StoredStep } from '../state/run-state.ts';
import { toErrorValue } from './error-value.ts';
import { isSecretKey, REDACTED, type RunSecrets } from './redaction.ts';
import type { RunInput } from './run-chain.ts';
import type { RunWaiter } from './run-waits.ts';
import { runAttempt, toJsonValue } from './step-attempt.ts';
import { retryDelayOf, type StepPolicy, splitPolicy } from './step-policy.ts';
import { renderOptions } from './templates.ts';

/** `unknown`: an operation of a type that no plugin has ends the run. */
export type StepStatus = 'resolve' | 'reject' | 'unknown';

/** One executed operation, as it is recorded: without secrets. */
export interface RunStep {
  readonly operation: string;
  readonly key: string;
  readonly status: StepStatus;
  /** The options as they were rendered. */
  readonly options: unknown;
  /** Template paths without a value. */
  readonly missing?: readonly string[];
  /** How often the operation ran, where it was more than once. */
  readonly attempts?: number;
}

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
  /** The same without secrets. */
  readonly redacted: Readonly<Record<string, unknown>>;
  readonly secrets: RunSecrets;
  readonly reader: { readonly admin: boolean };
}

export interface StepResult extends Pick<StoredStep, 'status' | 'value' | 'record'> {
  readonly error?: unknown;
}

/**
 * Runs an operation with its retries, and stores its end in the state of the run, where the run has one. A failure is a result.
 * @throws RunBreak
 */
export async function runStep(deps: RunStepDeps, place: StepPlace): Promise<StepResult> {
  const { operation, position, input, secrets } = place;
  const { state } = input;
  const before = secrets.noted().length;
  const started = Date.now();
  const missing = new Set<string>();
  const kind = deps.operations().find(operation.type);
  let attempt = state?.wait(position, 'retry')?.attempt ?? 1;

  const settle = async (status: StepStatus, value: unknown): Promise<StepResult> => {
    secrets.note(value);
    const record: RunStep = {
      operation: operation.id,
      key: operation.key,
      status,
      options: redactOptions(operation, kind, place.redacted, secrets),
      ...(missing.size > 0 ? { missing: [...missing] } : {}),
      ...(attempt > 1 ? { attempts: attempt } : {}),
    };
    const noted = secrets.noted().slice(before);
    const stored = { operation: operation.id, started, status, value, record, secrets: noted };
    await state?.addStep(position, stored);
    return { status, value, record };
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
    if (attempt > 1) await waitForRetry(policy);
    for (;;) {
      try {
        const one = { kind, options: own as Readonly<Record<string, unknown>>, policy, attempt };
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
    // A run with a state goes on elsewhere; one without ends here.
    if (state && (input.signal?.aborted || deps.stopping.aborted)) throw new RunSuspension(new Date());
    return { ...(await settle('reject', toJsonValue(toErrorValue(error, place.reader)))), error };
  }
}

/**
 * The options as they are recorded: rendered once more from data without secrets, so that what was interpolated from a secret is
 * redacted by where it came from, and searched for what was made of secrets.
 */
export function redactOptions(
  { options }: OperationPlan,
  kind: FlowOperationKind | 'ambiguous' | undefined,
  redactedData: unknown,
  secrets: RunSecrets,
): unknown {
  try {
    const shown = secrets.redact(renderOptions(options, redactedData, () => {}));
    const secretOptions = typeof kind === 'object' ? (kind.secretOptions ?? []) : [];
    return Object.fromEntries(
      Object.entries(shown as object).map(([key, value]) => [
        key,
        secretOptions.includes(key) || (isSecretKey(key) && value !== null) ? REDACTED : value,
      ]),
    );
  } catch {
    return REDACTED;
  }
}
