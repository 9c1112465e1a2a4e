import { setTimeout as pause } from 'node:timers/promises';
import { type Caller, VERSION } from '#kernel';
import type { CheckStatus, HealthCheck } from './contract.ts';

export interface CheckResult {
  readonly componentType: string;
  readonly status: CheckStatus;
  readonly observedValue?: number;
  readonly observedUnit?: string;
  readonly observedAt: string;
  readonly threshold?: number;
  readonly output?: string;
}

export interface Health {
  readonly status: CheckStatus;
  readonly checks: Readonly<Record<string, readonly CheckResult[]>>;
}

const TIME_LIMIT = 5000;
const ORDER: readonly CheckStatus[] = ['ok', 'warn', 'error'];

/**
 * Runs all checks at once. Whoever asks while they run is answered by the same run, so that any number of clients that ask without a
 * token cause one run at a time; no answer is kept. A check that is added or taken away is noticed at once.
 */
export function createHealth(timeLimit = TIME_LIMIT): (checks: readonly HealthCheck[]) => Promise<Health> {
  let running: { readonly checks: readonly HealthCheck[]; readonly health: Promise<Health> } | undefined;
  return (checks) => {
    if (running?.checks === checks) return running.health;
    const run = { checks, health: measure(checks, timeLimit) };
    running = run;
    const end = () => {
      if (running === run) running = undefined;
    };
    run.health.then(end, end);
    return run.health;
  };
}

async function measure(checks: readonly HealthCheck[], timeLimit: number): Promise<Health> {
  const results = await Promise.all(checks.map((check) => runCheck(check, timeLimit)));
  return {
    status: worstStatus(results.map(({ status }) => status)),
    checks: Object.fromEntries(checks.map(({ name }, at) => [name, [results[at] as CheckResult]])),
  };
}

export interface HealthDeps {
  readonly measure: ReturnType<typeof createHealth>;
  /** The contributed checks of this moment. */
  readonly checks: () => readonly HealthCheck[];
  /** Is the process finishing its last requests before it ends? */
  readonly isStopping: () => boolean;
}

/** What a caller is shown: admins the checks, all other callers the status alone, which is `error` in a process that stops. */
export async function describeHealth(
  { admin }: Pick<Caller, 'admin'>,
  { measure: measured, checks: known, isStopping }: HealthDeps,
): Promise<{ readonly status: CheckStatus }> {
  const { status, checks } = await measured(known());
  const detail = { releaseId: VERSION, serviceId: 'service', checks };
  return { status: isStopping() ? 'error' : status, ...(admin ? detail : {}) };
}

export const worstStatus = (all: readonly CheckStatus[]): CheckStatus =>
  ORDER[Math.max(0, ...all.map((status) => ORDER.indexOf(status)))] as CheckStatus;

async function runCheck(check: HealthCheck, timeLimit: number): Promise<CheckResult> {
  const { componentType, threshold } = check;
  const about = {
    componentType,
    observedAt: new Date().toISOString(),
    ...(threshold === undefined ? {} : { threshold }),
  };
  try {
    const { value, unit = 'ms', status } = await withTimeLimit(check, timeLimit);
    const isSlow = threshold !== undefined && value > threshold;
    return { ...about, status: status ?? (isSlow ? 'warn' : 'ok'), observedValue: value, observedUnit: unit };
  } catch (error) {
    return { ...about, status: 'error', output: error instanceof Error ? error.message : String(error) };
  }
}

async function withTimeLimit(check: HealthCheck, timeLimit: number) {
  const stop = new AbortController();
  const late = pause(timeLimit, undefined, { signal: stop.signal }).then(() => {
    throw new Error(`no answer within ${timeLimit} ms`);
  });
  // Cut off when the check was faster, which is nobody's failure.
  late.catch(() => {});
  try {
    return await Promise.race([check.check(), late]);
  } finally {
    stop.abort();
  }
}
