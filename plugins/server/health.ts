import { setTimeout as pause } from 'node:timers/promises';
import { type Caller, VERSION } from '#kernel';
import type { HealthCheck, HealthCheckStatus } from './contract.ts';

export interface HealthCheckResult {
  readonly componentType: string;
  readonly status: HealthCheckStatus;
  readonly observedValue?: number;
  readonly observedUnit?: string;
  readonly observedAt: string;
  readonly threshold?: number;
  readonly output?: string;
}

export interface HealthReport {
  readonly status: HealthCheckStatus;
  readonly checks: Readonly<Record<string, readonly HealthCheckResult[]>>;
}

const TIME_LIMIT = 5000;
const ORDER: readonly HealthCheckStatus[] = ['ok', 'warn', 'error'];

/**
 * Creates the function that runs all checks concurrently. Requests that arrive during a run share it, so that any number of
 * clients without a token cause one run at a time. No result is cached. A changed list of checks starts a new run.
 */
export function createHealthCheckRunner(
  timeLimit = TIME_LIMIT,
): (checks: readonly HealthCheck[]) => Promise<HealthReport> {
  let running: { readonly checks: readonly HealthCheck[]; readonly health: Promise<HealthReport> } | undefined;
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

async function measure(checks: readonly HealthCheck[], timeLimit: number): Promise<HealthReport> {
  const results = await Promise.all(checks.map((check) => runCheck(check, timeLimit)));
  return {
    status: worstHealthStatus(results.map(({ status }) => status)),
    checks: Object.fromEntries(checks.map(({ name }, at) => [name, [results[at] as HealthCheckResult]])),
  };
}

export interface HealthReportDeps {
  readonly measure: ReturnType<typeof createHealthCheckRunner>;
  /** The currently contributed checks. */
  readonly checks: () => readonly HealthCheck[];
  /** True while the process finishes its last requests before it ends. */
  readonly isStopping: () => boolean;
}

/** The health for a caller: admins see the checks, all others the status only. It is `error` while the process stops. */
export async function describeHealth(
  { admin }: Pick<Caller, 'admin'>,
  { measure: measured, checks: known, isStopping }: HealthReportDeps,
): Promise<{ readonly status: HealthCheckStatus }> {
  const { status, checks } = await measured(known());
  const detail = { releaseId: VERSION, serviceId: 'service', checks };
  return { status: isStopping() ? 'error' : status, ...(admin ? detail : {}) };
}

export const worstHealthStatus = (all: readonly HealthCheckStatus[]): HealthCheckStatus =>
  ORDER[Math.max(0, ...all.map((status) => ORDER.indexOf(status)))] as HealthCheckStatus;

async function runCheck(check: HealthCheck, timeLimit: number): Promise<HealthCheckResult> {
  const { componentType, threshold } = check;
  const about = {
    componentType,
    observedAt: new Date().toISOString(),
    ...(threshold === undefined ? {} : { threshold }),
  };
  try {
    const { value, unit = 'ms', status, output } = await withTimeLimit(check, timeLimit);
    const isSlow = threshold !== undefined && value > threshold;
    const observed = { observedValue: value, observedUnit: unit, ...(output === undefined ? {} : { output }) };
    return { ...about, status: status ?? (isSlow ? 'warn' : 'ok'), ...observed };
  } catch (error) {
    return { ...about, status: 'error', output: error instanceof Error ? error.message : String(error) };
  }
}

async function withTimeLimit(check: HealthCheck, timeLimit: number) {
  const stop = new AbortController();
  const late = pause(timeLimit, undefined, { signal: stop.signal }).then(() => {
    throw new Error(`no answer within ${timeLimit} ms`);
  });
  // The timer is aborted when the check was faster, which is no failure.
  late.catch(() => {});
  try {
    return await Promise.race([check.check(), late]);
  } finally {
    stop.abort();
  }
}
