import type { Caller } from '#kernel';
import type { FlowOperationKind, FlowOperationRegistry } from '../contract.ts';
import type { FlowPlan, OperationPlan } from '../plan/flow-plan.ts';
import { toErrorValue } from './error-value.ts';
import { isSecretKey, REDACTED, RunSecrets } from './redaction.ts';
import { renderOptions } from './templates.ts';
import { currentTrial } from './trial.ts';

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
}

/** What a run begins with. */
export interface RunInput {
  /** Unique to the run, and equal where a job runs it again. */
  readonly id: string;
  readonly trigger: unknown;
  /** The caller for whom the flow runs; null for a schedule, and for what a flow without a caller calls. */
  readonly caller: Caller | null;
  readonly accountability: Readonly<Record<string, unknown>> | null;
  readonly env: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** A run that has ended. */
export interface RunOutcome {
  /** The status of the last operation; `resolve` for a flow without operations. */
  readonly status: StepStatus;
  /** The values of the run by key, `$trigger`, `$last`, `$accountability` and `$env` included. */
  readonly data: Readonly<Record<string, unknown>>;
  readonly steps: readonly RunStep[];
  /** What the last operation threw, where its status is `reject`. */
  readonly error: unknown;
  readonly secrets: RunSecrets;
}

interface Deps {
  readonly operations: () => FlowOperationRegistry;
  readonly maxSteps: number;
}

export type RunChain = (plan: FlowPlan, input: RunInput) => Promise<RunOutcome>;

/** Follows the chain of a flow from its first operation (specification, "Operation record"). A failed operation is data, and no error. */
export const createRunChain =
  ({ operations, maxSteps }: Deps): RunChain =>
  async (plan, input) => {
    const { caller, signal } = input;
    const secrets = new RunSecrets();
    const own: Record<string, unknown> = { $accountability: input.accountability, $env: input.env };
    const data: Record<string, unknown> = { $trigger: input.trigger, $last: input.trigger, ...own };
    secrets.note(input.trigger);
    secrets.note(input.env);
    const reader = { admin: caller?.admin ?? true };
    const steps: RunStep[] = [];
    const visited = new Map<string, string>();
    let status: StepStatus = 'resolve';
    let error: unknown;

    for (let next = plan.first; next !== null; ) {
      const operation = plan.operations.get(next);
      // The chain is not checked when it is written: an id that leads nowhere, or into another flow, is the end of this run.
      if (!operation) {
        status = 'reject';
        error = new Error(`operation ${next} is not an operation of the flow`);
        data.$last = toErrorValue(error, reader);
        break;
      }
      const step = await runStep(operation);
      steps.push(step.record);
      ({ status, error } = step);
      secrets.note(step.value);
      data[operation.key] = step.value;
      data.$last = step.value;
      if (status === 'unknown' || step.isLast) break;
      next = status === 'resolve' ? operation.resolve : operation.reject;
    }
    return { status, data, steps, error, secrets };

    async function runStep(operation: OperationPlan) {
      const missing = new Set<string>();
      const note = (path: string) => void missing.add(path);
      const refusal = refusalOf(operation);
      const kind = operations().find(operation.type);
      let rendered: unknown = operation.options;
      try {
        if (refusal) throw refusal;
        rendered = renderOptions(operation.options, data, note);
        secrets.note(rendered);
        if (kind === undefined) return settle('unknown', null);
        if (kind === 'ambiguous') throw new Error(`several plugins have the operation "${operation.type}"`);
        signal?.throwIfAborted();
        const flow = { id: plan.id, name: plan.name, run: input.id, step: operation.key };
        const trial = currentTrial();
        if (trial && kind.trial !== 'run')
          trial.effects.push({ type: kind.id, step: operation.key, effect: secrets.redact(rendered) });
        if (trial && kind.trial === undefined) return settle('resolve', null);
        const result = await kind.run(rendered as never, { data, caller, flow, secrets });
        return settle('resolve', toJsonValue(result));
      } catch (thrown) {
        return {
          ...settle('reject', toJsonValue(toErrorValue(thrown, reader))),
          error: thrown,
          isLast: refusal !== undefined,
        };
      }

      function settle(outcome: StepStatus, value: unknown) {
        const record: RunStep = {
          operation: operation.id,
          key: operation.key,
          status: outcome,
          options: redactOptions(operation, kind, data, secrets),
          ...(missing.size > 0 ? { missing: [...missing] } : {}),
        };
        return { status: outcome, value, record, error: undefined as unknown, isLast: false };
      }
    }

    /** Why the operation does not run: the chain has come back to it, or is too long. */
    function refusalOf({ id, key }: OperationPlan): Error | undefined {
      if (visited.has(id)) {
        const keys = [...visited.values()];
        return new Error(
          `the operations go round: ${[...keys.slice([...visited.keys()].indexOf(id)), key].join(' → ')}`,
        );
      }
      visited.set(id, key);
      return visited.size > maxSteps ? new Error(`the run has more than ${maxSteps} operations`) : undefined;
    }
  };

/**
 * The options as they are recorded: rendered once more from data without secrets, so that what was interpolated from a secret is
 * redacted by where it came from, and searched for what was made of secrets.
 */
function redactOptions(
  { options }: OperationPlan,
  kind: FlowOperationKind | 'ambiguous' | undefined,
  data: unknown,
  secrets: RunSecrets,
): unknown {
  try {
    const shown = secrets.redact(renderOptions(options, secrets.redact(data), () => {}));
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

/** @throws TypeError for a value that JSON has no form for, such as one that contains itself. */
function toJsonValue(value: unknown): unknown {
  if (value === undefined) return null;
  const text = JSON.stringify(value);
  return text === undefined ? null : JSON.parse(text);
}
