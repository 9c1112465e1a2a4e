import { Failure, Failures, type Log } from '#kernel';
import { reasonOf } from './unavailable.ts';

/** Logs why a sign-in by a provider failed; of a provider and a code one line in ten seconds, since any client can make them fail. */
export type ThrottledLog = (provider: string, code: string, error: unknown) => void;

const INTERVAL = 10_000;

export function createFailureLog(log: Log, now: () => number = () => performance.now()): ThrottledLog {
  const last = new Map<string, { at: number; left: number }>();
  return (provider, code, error) => {
    const key = `${provider} ${code}`;
    const before = last.get(key);
    if (before && now() - before.at < INTERVAL) return void before.left++;
    last.set(key, { at: now(), left: 0 });
    const more = before?.left ? ` (and ${before.left} times more since the last line)` : '';
    log.warn({ provider, code }, `a sign-in by ${provider} failed: ${reasonOf(error)}${more}`);
  };
}

/** The code that the client of a failed sign-in is answered. */
export function codeOf(error: unknown): string {
  const first = error instanceof Failures ? error.failures[0] : error;
  return first instanceof Failure ? first.code : 'INTERNAL_SERVER_ERROR';
}
