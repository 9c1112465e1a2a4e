import type { Caller } from '#kernel';
import type { FlowPlan, OperationPlan } from '../plan/flow-plan.ts';
import type { RunState } from '../state/run-state.ts';
import { toErrorValue } from './error-value.ts';
import type { RunSecrets } from './redaction.ts';
import { type RunStepDeps, runStep, type StepResult } from './run-step.ts';
import type { WaitAccount } from './run-waits.ts';
import { type ExecutedStep, type RunStep, renderStepRecords, type StepStatus } from './step-records.ts';

/** When a step ran, and what it gave, secrets included. */
export interface StepTiming {
  readonly started: Date;
  /** Milliseconds. */
  readonly duration: number;
  readonly output: unknown;
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
  /** The secrets of this run and of those that it is a part of. */
  readonly secrets: RunSecrets;
  readonly signal?: AbortSignal | undefined;
  /** Where what happens between operations is stored; undefined for a run that its process does not survive. */
  readonly state?: RunState | undefined;
  readonly waits: WaitAccount;
}

/** A run that has ended. */
export interface RunOutcome {
  /** The status of the last operation; `resolve` for a flow without operations. */
  readonly status: StepStatus;
  /** The values of the run by key, `$trigger`, `$last`, `$accountability` and `$env` included. */
  readonly data: Readonly<Record<string, unknown>>;
  /** The operations that have run, without secrets; made when they are read first. */
  readonly steps: readonly RunStep[];
  /** One for each of `steps`. */
  readonly timings: readonly StepTiming[];
  /** The key of the last operation; null for a flow without operations. */
  readonly lastStep: string | null;
  /** What the last operation threw, where its status is `reject`; undefined where that was in an earlier process. */
  readonly error: unknown;
  readonly secrets: RunSecrets;
}

interface Deps extends RunStepDeps {
  readonly maxSteps: number;
}

/**
 * Follows the chain of a flow from its first operation to its end.
 * @throws RunBreak where the run goes on elsewhere: only a run with a state.
 */
export type RunChain = (plan: FlowPlan, input: RunInput) => Promise<RunOutcome>;

/** Follows the chain of a flow from its first operation (specification, "Operation record"). A failed operation is data, and no error. */
export const createRunChain =
  (deps: Deps): RunChain =>
  (plan, input) =>
    new ChainRun(deps, plan, input).follow();

class ChainRun {
  readonly #deps: Deps;
  readonly #plan: FlowPlan;
  readonly #input: RunInput;
  readonly #data: Record<string, unknown>;
  readonly #steps: ExecutedStep[] = [];
  /** Keys of the operations that have run, by id. */
  readonly #visited = new Map<string, string>();
  readonly #reader: { readonly admin: boolean };

  constructor(deps: Deps, plan: FlowPlan, input: RunInput) {
    this.#deps = deps;
    this.#plan = plan;
    this.#input = input;
    this.#reader = { admin: input.caller?.admin ?? true };
    const { trigger, accountability, env, secrets } = input;
    this.#data = { $trigger: trigger, $last: trigger, $accountability: accountability, $env: env };
    secrets.note(trigger);
    secrets.note(env);
  }

  async follow(): Promise<RunOutcome> {
    let status: StepStatus = 'resolve';
    let error: unknown;
    for (let next = this.#plan.first, position = 0; ; position++) {
      // What has run in an earlier process has run, also where the flow was changed since.
      const id = this.#input.state?.step(position)?.operation ?? next;
      if (id === null) break;
      const operation = this.#plan.operations.get(id);
      // The chain is not checked when it is written: an id that leads nowhere, or into another flow, is the end of this run.
      if (!operation) {
        status = 'reject';
        error = new Error(`operation ${id} is not an operation of the flow`);
        this.#data.$last = toErrorValue(error, this.#reader);
        break;
      }
      const refusal = this.#refusalOf(operation);
      const step = refusal ? this.#refuse(operation, refusal) : await this.#run(operation, position);
      this.#steps.push(step);
      this.#data[operation.key] = step.value;
      this.#data.$last = step.value;
      status = step.status;
      error = step.error;
      if (refusal || status === 'unknown') break;
      next = status === 'resolve' ? operation.resolve : operation.reject;
    }
    return this.#outcome(status, error);
  }

  #outcome(status: StepStatus, error: unknown): RunOutcome {
    const { trigger, accountability, env, secrets } = this.#input;
    const begin = { $trigger: trigger, $last: trigger, $accountability: accountability, $env: env };
    const executed = this.#steps;
    let steps: readonly RunStep[] | undefined;
    return {
      status,
      data: this.#data,
      get steps() {
        steps ??= renderStepRecords(executed, begin, secrets);
        return steps;
      },
      timings: executed.map(({ started, duration, value }) => ({
        started: new Date(started),
        duration,
        output: value,
      })),
      lastStep: executed.at(-1)?.operation.key ?? null,
      error,
      secrets,
    };
  }

  /** Runs an operation, or takes what it gave in an earlier process. */
  async #run(operation: OperationPlan, position: number): Promise<StepResult> {
    const { state, secrets } = this.#input;
    if (operation.secretValues) secrets.note(operation.secretValues, true);
    const stored = state?.step(position);
    if (stored) {
      secrets.restore(stored.secrets);
      const { options, missing, attempts, ...rest } = stored;
      const kind = this.#deps.operations().find(operation.type);
      return { ...rest, operation: { ...operation, options }, kind, attempts, missing: new Set(missing) };
    }
    return runStep(this.#deps, {
      plan: this.#plan,
      operation,
      position,
      input: this.#input,
      data: this.#data,
      reader: this.#reader,
    });
  }

  #refuse(operation: OperationPlan, error: Error): StepResult {
    const kind = this.#deps.operations().find(operation.type);
    const value = toErrorValue(error, this.#reader);
    const times = { started: Date.now(), duration: 0, attempts: 1 };
    return { operation, kind, status: 'reject', value, missing: new Set(), ...times, error };
  }

  /** Why the operation does not run: the chain has come back to it, or is too long. */
  #refusalOf({ id, key }: OperationPlan): Error | undefined {
    const visited = this.#visited;
    if (visited.has(id)) {
      const keys = [...visited.values()];
      return new Error(`the operations go round: ${[...keys.slice([...visited.keys()].indexOf(id)), key].join(' → ')}`);
    }
    visited.set(id, key);
    return visited.size > this.#deps.maxSteps
      ? new Error(`the run has more than ${this.#deps.maxSteps} operations`)
      : undefined;
  }
}
