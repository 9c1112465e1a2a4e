import type { FlowOperationKind } from '../contract.ts';
import type { OperationPlan } from '../plan/flow-plan.ts';
import { isSecretKey, REDACTED, type RunSecrets } from './redaction.ts';
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

/** One executed operation as the run keeps it. */
export interface ExecutedStep {
  readonly operation: OperationPlan;
  readonly kind: FlowOperationKind | 'ambiguous' | undefined;
  readonly status: StepStatus;
  /** What the operation gave. */
  readonly value: unknown;
  readonly missing: ReadonlySet<string>;
  /** How often it ran, from 1. */
  readonly attempts: number;
  /** When it began, in milliseconds since 1970. */
  readonly started: number;
  /** Milliseconds from the begin of its first attempt. */
  readonly duration: number;
}

/**
 * The operations of an ended run as they are recorded. Options are rendered once more from data without secrets, as it was before each
 * operation: what was interpolated from a secret is redacted by where it came from, also where it is too short to be searched for.
 */
export function renderStepRecords(
  executed: readonly ExecutedStep[],
  begin: Readonly<Record<string, unknown>>,
  secrets: RunSecrets,
): readonly RunStep[] {
  const data: Record<string, unknown> = Object.fromEntries(
    Object.entries(begin).map(([name, value]) => [name, secrets.redact(value)]),
  );
  return executed.map(({ operation, kind, status, value, missing, attempts }) => {
    const record = {
      operation: operation.id,
      key: operation.key,
      status,
      options: redactOptions(operation, kind, data, secrets),
      ...(missing.size > 0 ? { missing: [...missing] } : {}),
      ...(attempts > 1 ? { attempts } : {}),
    };
    data[operation.key] = secrets.redact(value);
    data.$last = data[operation.key];
    return record;
  });
}

function redactOptions(
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
