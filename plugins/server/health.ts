import { setTimeout as pause } from 'node:timers/promises';
import { type Caller, type CheckStatus, type HealthCheck, type RequestState, VERSION } from '#kernel';

export interface Result {
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
  readonly checks: Readonly<Record<string, readonly Result[]>>;
}

const TIME_LIMIT = 5000;
const KEPT = 1000;
const ORDER: readonly CheckStatus[] = ['ok', 'warn', 'error'];

/** Runs all checks at once and keeps the answer for a second, so that watching the service costs it nothing. */
export function createHealth(timeLimit = TIME_LIMIT, kept = KEPT): (checks: readonly HealthCheck[]) => Promise<Health> {
  let last: { readonly at: number; readonly health: Promise<Health> } | undefined;
  return (checks) => {
    const now = Date.now();
    if (!last || now - last.at > kept) last = { at: now, health: measure(checks, timeLimit) };
    return last.health;
  };
}

async function measure(checks: readonly HealthCheck[], timeLimit: number): Promise<Health> {
  const results = await Promise.all(checks.map((check) => resultOf(check, timeLimit)));
  return {
    status: worst(results.map(({ status }) => status)),
    checks: Object.fromEntries(checks.map(({ name }, at) => [name, [results[at] as Result]])),
  };
}

/** What a caller is shown: admins the checks, everybody else only how it stands. A process that stops is not well. */
export async function healthFor(
  { admin }: Caller,
  { draining, checks: known }: RequestState['health'],
  measured: ReturnType<typeof createHealth>,
): Promise<{ readonly status: CheckStatus }> {
  const { status, checks } = await measured(known);
  const detail = { releaseId: VERSION, serviceId: 'service', checks };
  return { status: draining ? 'error' : status, ...(admin ? detail : {}) };
}

export const worst = (all: readonly CheckStatus[]): CheckStatus =>
  ORDER[Math.max(0, ...all.map((status) => ORDER.indexOf(status)))] as CheckStatus;

async function resultOf(check: HealthCheck, timeLimit: number): Promise<Result> {
  const { componentType, threshold } = check;
  const about = {
    componentType,
    observedAt: new Date().toISOString(),
    ...(threshold === undefined ? {} : { threshold }),
  };
  try {
    const { value, unit = 'ms', status } = await inTime(check, timeLimit);
    const isSlow = threshold !== undefined && value > threshold;
    return { ...about, status: status ?? (isSlow ? 'warn' : 'ok'), observedValue: value, observedUnit: unit };
  } catch (error) {
    return { ...about, status: 'error', output: error instanceof Error ? error.message : String(error) };
  }
}

async function inTime(check: HealthCheck, timeLimit: number) {
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
