import { fail } from '#kernel';

/** The option of any operation that says how it is run. */
export const POLICY_OPTION = '$execution';

/** How an operation is run. */
export interface StepPolicy {
  /** How often it runs again after a failure; undefined for the default. */
  readonly retries: number | undefined;
  /** Milliseconds before the first retry, each further one waits twice as long; undefined for the default. */
  readonly backoff: number | undefined;
  /** Milliseconds after which one attempt is aborted; undefined for no limit. */
  readonly timeout: number | undefined;
}

const MAX_RETRIES = 20;
const MAX_BACKOFF = 3_600_000;
const MAX_TIMEOUT = 3_600_000;
const DEFAULT_BACKOFF = 1000;
/** The longest wait between two attempts. */
const MAX_DELAY = 3_600_000;
const NAMES: ReadonlySet<string> = new Set(['retries', 'backoff', 'timeout']);

/** An attempt that took longer than its `timeout`. */
export class OperationTimeout extends Error {
  override readonly name = 'OperationTimeout';
  readonly code = 'OPERATION_TIMEOUT';

  constructor(timeout: number) {
    super(`The operation took longer than ${timeout} ms.`);
  }
}

/**
 * Takes `$execution` from the rendered options of an operation.
 * @throws INVALID_PAYLOAD for an unknown member, and for a number out of its range.
 */
export function splitPolicy(options: unknown): { readonly policy: StepPolicy; readonly own: unknown } {
  const { [POLICY_OPTION]: value, ...own } = Object(options) as Readonly<Record<string, unknown>>;
  if (value === undefined || value === null) return { policy: parsePolicy({}), own };
  if (typeof value !== 'object' || Array.isArray(value))
    throw fail('INVALID_PAYLOAD', `the option "${POLICY_OPTION}" must be an object`);
  return { policy: parsePolicy(value as Readonly<Record<string, unknown>>), own };
}

function parsePolicy(value: Readonly<Record<string, unknown>>): StepPolicy {
  const unknown = Object.keys(value).find((name) => !NAMES.has(name));
  if (unknown !== undefined) throw fail('INVALID_PAYLOAD', `"${POLICY_OPTION}" has no member "${unknown}"`);
  return {
    retries: wholeNumber(value, 'retries', 0, MAX_RETRIES),
    backoff: wholeNumber(value, 'backoff', 0, MAX_BACKOFF),
    timeout: wholeNumber(value, 'timeout', 1, MAX_TIMEOUT),
  };
}

/** A number, or digits, as a variable of the environment has them. */
function wholeNumber(
  options: Readonly<Record<string, unknown>>,
  name: string,
  min: number,
  max: number,
): number | undefined {
  const value = options[name];
  if (value === undefined || value === null) return undefined;
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number) || number < min || number > max)
    throw fail('INVALID_PAYLOAD', `"${POLICY_OPTION}.${name}" must be a whole number from ${min} to ${max}`);
  return number;
}

/** Milliseconds before the attempt that follows `attempt`. */
export const retryDelayOf = ({ backoff = DEFAULT_BACKOFF }: StepPolicy, attempt: number): number =>
  Math.min(backoff * 2 ** (attempt - 1), MAX_DELAY);
