import { type Caller, fail } from '#kernel';
import type { FlowOperationKind, FlowOperationRegistry } from '../contract.ts';
import type { FlowPlan, OperationPlan } from '../plan/flow-plan.ts';
import { missingSecretsOf } from '../secrets/secret-options.ts';
import { toErrorValue } from './error-value.ts';
import type { RunSecrets } from './redaction.ts';
import { type ExecutedStep, type RunStep, renderStepRecords, type StepStatus } from './step-records.ts';
import { renderOptions } from './templates.ts';
import { currentTrial } from './trial.ts';

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
}

/** A run that has ended. */
export interface RunOutcome {
  /** The status of the last operation; `resolve` for a flow without operations. */
  readonly status: StepStatus;
  /** The values of the run by key, `$trigger`, `$last`, `$accountability` and `$env` included. */
  readonly data: Readonly<Record<string, unknown>>;
  /** The operations that have run, without secrets; made when they are read first. */
  readonly steps: readonly RunStep[];
  /** The key of the last operation; null for a flow without operations. */
  readonly lastStep: string | null;
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
  (deps: Deps): RunChain =>
  (plan, input) =>
    new ChainRun(deps, plan, input).follow();

type Options = Readonly<Record<string, unknown>>;

/** What one operation came to. */
interface StepResult {
  readonly status: StepStatus;
  readonly value: unknown;
  readonly error?: unknown;
  /** The run ends here, whatever follows in the chain. */
  readonly isLast?: boolean;
}

class ChainRun {
  readonly #deps: Deps;
  readonly #plan: FlowPlan;
  readonly #input: RunInput;
  readonly #secrets: RunSecrets;
  readonly #data: Record<string, unknown>;
  readonly #steps: ExecutedStep[] = [];
  /** Keys of the operations that have run, by id. */
  readonly #visited = new Map<string, string>();
  readonly #reader: { readonly admin: boolean };

  constructor(deps: Deps, plan: FlowPlan, input: RunInput) {
    this.#deps = deps;
    this.#plan = plan;
    this.#input = input;
    this.#secrets = input.secrets;
    this.#reader = { admin: input.caller?.admin ?? true };
    const { trigger, accountability, env } = input;
    this.#data = { $trigger: trigger, $last: trigger, $accountability: accountability, $env: env };
    this.#secrets.note(trigger);
    this.#secrets.note(env);
  }

  async follow(): Promise<RunOutcome> {
    let status: StepStatus = 'resolve';
    let error: unknown;
    for (let next = this.#plan.first; next !== null; ) {
      const operation = this.#plan.operations.get(next);
      // The chain is not checked when it is written: an id that leads nowhere, or into another flow, is the end of this run.
      if (!operation) {
        status = 'reject';
        error = new Error(`operation ${next} is not an operation of the flow`);
        this.#data.$last = toErrorValue(error, this.#reader);
        break;
      }
      const step = await this.#run(operation);
      this.#secrets.note(step.value);
      this.#data[operation.key] = step.value;
      this.#data.$last = step.value;
      status = step.status;
      error = step.error;
      if (status === 'unknown' || step.isLast) break;
      next = status === 'resolve' ? operation.resolve : operation.reject;
    }
    return this.#outcome(status, error);
  }

  #outcome(status: StepStatus, error: unknown): RunOutcome {
    const { trigger, accountability, env } = this.#input;
    const begin = { $trigger: trigger, $last: trigger, $accountability: accountability, $env: env };
    const executed = this.#steps;
    const secrets = this.#secrets;
    let steps: readonly RunStep[] | undefined;
    return {
      status,
      data: this.#data,
      get steps() {
        steps ??= renderStepRecords(executed, begin, secrets);
        return steps;
      },
      lastStep: executed.at(-1)?.operation.key ?? null,
      error,
      secrets,
    };
  }

  async #run(operation: OperationPlan): Promise<StepResult> {
    const missing = new Set<string>();
    const kind = this.#deps.operations().find(operation.type);
    const settle = (status: StepStatus, value: unknown): StepResult => {
      this.#steps.push({ operation, kind, status, value, missing });
      return { status, value };
    };
    const refusal = this.#refusalOf(operation);
    if (operation.secretValues) this.#secrets.note(operation.secretValues, true);
    try {
      if (refusal) throw refusal;
      const rendered = renderOptions(operation.options, this.#data, (path) => void missing.add(path));
      this.#secrets.note(rendered);
      if (kind === undefined) return settle('unknown', null);
      if (kind === 'ambiguous') throw new Error(`several plugins have the operation "${operation.type}"`);
      const [unset] = missingSecretsOf(kind, operation.options);
      if (unset) throw fail('INVALID_PAYLOAD', `the secret option "${unset}" has no stored value: enter it again`);
      // Values that SQL has written, or that come from data of the run.
      for (const name of kind.secretOptions ?? []) this.#secrets.note((rendered as Options)[name], true);
      this.#input.signal?.throwIfAborted();
      return settle('resolve', await this.#call(kind, operation, rendered));
    } catch (error) {
      const value = toJsonValue(toErrorValue(error, this.#reader));
      return { ...settle('reject', value), error, isLast: refusal !== undefined };
    }
  }

  async #call(kind: FlowOperationKind, { key }: OperationPlan, rendered: unknown): Promise<unknown> {
    const secrets = this.#secrets;
    const trial = currentTrial();
    if (trial && kind.trial !== 'run')
      trial.effects.push({ type: kind.id, step: key, effect: secrets.redact(rendered) });
    if (trial && kind.trial === undefined) return null;
    const { caller, id } = this.#input;
    // Code of packages in this process gets the data itself, and may change it.
    if (kind.trial === undefined) secrets.collectNoted();
    const flow = { id: this.#plan.id, name: this.#plan.name, run: id, step: key };
    return toJsonValue(await kind.run(rendered as never, { data: this.#data, caller, flow, secrets }));
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

/** @throws TypeError for a value that JSON has no form for, such as one that contains itself. */
function toJsonValue(value: unknown): unknown {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  const text = JSON.stringify(value);
  return text === undefined ? null : JSON.parse(text);
}
