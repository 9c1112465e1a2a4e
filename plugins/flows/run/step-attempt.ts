import { fail } from '#kernel';
import type { FlowOperationKind } from '../contract.ts';
import { deriveRunId } from './run-id.ts';
import type { RunStepDeps, StepPlace } from './run-step.ts';
import type { StepContext } from './step-context.ts';
import { OperationTimeout, type StepPolicy } from './step-policy.ts';
import { currentTrial } from './trial.ts';

/** One attempt of an operation. */
export interface StepAttempt {
  readonly kind: FlowOperationKind;
  /** The rendered options without `$execution`. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly policy: StepPolicy;
  readonly attempt: number;
}

/**
 * Runs an operation once. Answers what `settle` makes of its value, in the same transaction where the operation is atomic and its run
 * is stored, or has a time limit.
 * @throws what the operation throws; OperationTimeout.
 */
export async function runAttempt<T>(
  deps: RunStepDeps,
  place: StepPlace,
  { kind, options, policy, attempt }: StepAttempt,
  settle: (value: unknown) => Promise<T>,
): Promise<T> {
  const { input, operation } = place;
  const { secrets } = input;
  const trial = currentTrial();
  if (trial && kind.trial !== 'run')
    trial.effects.push({ type: kind.id, step: operation.key, effect: secrets.redact(options) });
  if (trial && kind.trial === undefined) return settle(null);
  // Code of packages in this process gets the data itself, and may change it.
  if (kind.trial === undefined) secrets.collectNoted();

  const { timeout } = policy;
  const limit = new AbortController();
  const timer =
    timeout === undefined ? undefined : setTimeout(() => limit.abort(new OperationTimeout(timeout)), timeout);
  const base = input.signal ?? deps.stopping;
  const signal = timer === undefined ? base : AbortSignal.any([base, limit.signal]);
  // A run that another process can go on with is left at once; one that is waited for gets the time that the service has to stop.
  const isLeft = timer !== undefined || input.signal !== undefined || input.state !== undefined;
  const work = async () => toJsonValue(await kind.run(options, createContext(deps, place, policy, attempt, signal)));
  try {
    if (isLeft) signal.throwIfAborted();
    if (!(kind.isAtomic?.(options) ?? false))
      return await settle(await (isLeft ? untilAborted(work(), signal) : work()));
    if (!deps.db.isInUnitOfWork() && (input.state?.isStored || timer !== undefined))
      return await deps.db.transaction(async () => settle(await work()), { signal });
    // A write that has begun is not left: it may be committed, or is part of the unit of work around it.
    const value = await work();
    limit.signal.throwIfAborted();
    return await settle(value);
  } finally {
    clearTimeout(timer);
  }
}

function createContext(
  { waiter }: RunStepDeps,
  { plan, operation, position, input, data }: StepPlace,
  policy: StepPolicy,
  attempt: number,
  signal: AbortSignal,
): StepContext {
  const { id: run, caller, state, waits, secrets } = input;
  return {
    data,
    caller,
    flow: { id: plan.id, name: plan.name, run, step: operation.key },
    secrets,
    signal,
    attempt,
    policy,
    async wait(milliseconds) {
      if (policy.timeout !== undefined && milliseconds > policy.timeout) throw new OperationTimeout(policy.timeout);
      const wait = { milliseconds, position, reason: 'sleep', attempt, signal } as const;
      if (!(await waiter.wait(waits, state, wait)))
        throw fail('INVALID_PAYLOAD', `the run may wait ${waiter.limit()} ms in all while its end is waited for`);
    },
    nested: (element) => ({
      id: deriveRunId(run, operation.id, element),
      state: state?.nested(position, element),
      waits,
      signal,
    }),
  };
}

/** The outcome of the work, or a failure when the signal aborts before. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  return Promise.race([work, aborted.promise]).finally(() => signal.removeEventListener('abort', abort));
}

/** @throws TypeError for a value that JSON has no form for, such as one that contains itself. */
export function toJsonValue(value: unknown): unknown {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  const text = JSON.stringify(value);
  return text === undefined ? null : JSON.parse(text);
}
