import { Failure } from '#kernel';
import type { ProviderFinding } from '../contract.ts';
import { reasonOf } from '../unavailable.ts';

/** Days before its end at which a certificate is worth a warning. */
const DAYS_AHEAD = 30;
const DAY = 24 * 60 * 60_000;

/** What one step of a check was good for: its value, or the finding that it failed. */
export type CheckAttempt<T> =
  | { readonly value: T; readonly failure: undefined }
  | { readonly value: undefined; readonly failure: ProviderFinding };

/** Runs one step of a check. What it throws is a finding with this remedy. */
export async function attemptCheck<T>(check: string, remedy: string, work: () => Promise<T>): Promise<CheckAttempt<T>> {
  try {
    return { value: await work(), failure: undefined };
  } catch (error) {
    const code = error instanceof Failure ? `${error.code}: ` : '';
    return { value: undefined, failure: { check, status: 'fail', text: `${code}${reasonOf(error)}`, remedy } };
  }
}

/** How long something is valid: `fail` once it is over, `warn` in the last 30 days. */
export function describeExpiry(
  check: string,
  what: string,
  { until, remedy, whenOver = 'fail' }: { until: Date; remedy: string; whenOver?: 'fail' | 'warn' },
): ProviderFinding {
  const days = Math.floor((until.getTime() - Date.now()) / DAY);
  const day = until.toISOString().slice(0, 10);
  if (days < 0) return { check, status: whenOver, text: `${what} is expired since ${day}`, remedy };
  const text = `${what} is valid until ${day}`;
  return days < DAYS_AHEAD ? { check, status: 'warn', text, remedy } : { check, status: 'ok', text };
}
