import type { Caller } from '#kernel';
import type { FlowPlan, OperationPlan } from '../plan/flow-plan.ts';
import type { RunState } from '../state/run-state.ts';
import { toErrorValue } from './error-value.ts';
import { RunSecrets } from './redaction.ts';
import {
  type RunStep,
  type RunStepDeps,
  redactOptions,
  runStep,
  type StepResult,
  type StepStatus,
} from './run-step.ts';
import type { WaitAccount } from './run-waits.ts';

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
  readonly steps: readonly RunStep[];
  /** One for each of `steps`. */
  readonly timings: readonly StepTiming[];
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

export const createRunChain =
  (deps: Deps): RunChain =>
  (plan, input) =>
    new ChainRun(deps, plan, input).follow();

class ChainRun {
  readonly #deps: Deps;
  readonly #plan: FlowPlan;
  readonly #input: RunInput;
  readonly #secrets = new RunSecrets();
  readonly #data: Record<string, unknown>;
  /** The data without secrets, from which the recorded options are rendered. */
  readonly #redacted: Record<string, unknown> = {};
  readonly #steps: RunStep[] = [];
  readonly #timings: StepTiming[] = [];
  /** Keys of the operations that have run, by id. */
  readonly #visited = new Map<string, string>();
  readonly #reader: { readonly admin: boolean };

  constructor(deps: Deps, plan: FlowPlan, input: RunInput) {
    this.#deps = deps;
    this.#plan = plan;
    this.#input = input;
    this.#reader = { admin: input.caller?.admin ?? true };
    const { trigger, accountability, env } = input;
    this.#data = { $trigger: trigger, $last: trigger, $accountability: accountability, $env: env };
    this.#secrets.note(trigger);
    this.#secrets.note(env);
    for (const [name, value] of Object.entries(this.#data)) this.#redacted[name] = this.#secrets.redact(value);
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
      this.#add(operation, step);
      status = step.status;
      error = step.error;
      if (refusal || status === 'unknown') break;
      next = status === 'resolve' ? operation.resolve : operation.reject;
    }
    // Once more, for secrets that came later.
    const steps = this.#steps.map((step) => ({ ...step, options: this.#secrets.redact(step.options) }));
    return { status, data: this.#data, steps, timings: this.#timings, error, secrets: this.#secrets };
  }

  /** Runs an operation, or takes what it gave in an earlier process. */
  async #run(operation: OperationPlan, position: number): Promise<StepResult> {
    const { state } = this.#input;
    const stored = state?.step(position);
    if (stored) {
      this.#secrets.restore(stored.secrets);
      return stored;
    }
    return runStep(this.#deps, {
      plan: this.#plan,
      operation,
      position,
      input: this.#input,
      data: this.#data,
      redacted: this.#redacted,
      secrets: this.#secrets,
      reader: this.#reader,
    });
  }

  #add(operation: OperationPlan, { value, record }: StepResult): void {
    this.#steps.push(record);
    this.#data[operation.key] = value;
    this.#data.$last = value;
    this.#redacted[operation.key] = this.#secrets.redact(value);
    this.#redacted.$last = this.#redacted[operation.key];
  }

  #refuse(operation: OperationPlan, error: Error): StepResult {
    const kind = this.#deps.operations().find(operation.type);
    const options = redactOptions(operation, kind, this.#redacted, this.#secrets);
    const record: RunStep = { operation: operation.id, key: operation.key, status: 'reject', options };
    return { status: 'reject', value: toErrorValue(error, this.#reader), record, error };
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
