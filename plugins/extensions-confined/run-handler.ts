import { type Caller, type Failure, fail, isSystem } from '#kernel';
import type { Admitted } from '../broker/contract.ts';
import type { Activation, Guest, Outcome, Run } from '../sandbox/contract.ts';
import type { FailureLog } from './failure-log.ts';
import type { Contribution } from './gate/contributions.ts';

/** One contribution while it runs: its program and what it may call. */
export interface RunningContribution {
  readonly contribution: Contribution;
  readonly guest: Guest;
  readonly admitted: Admitted;
  readonly failures: FailureLog;
}

type HandlerCall = Pick<Run, 'input' | 'prepare' | 'signal'> & {
  readonly activation: Activation;
  readonly caller: Caller | null;
};

/** Runs a handler. Rejects with a GuestFailure, or with the reason of the signal where nobody waits any more. */
export async function runHandler(
  { contribution, guest, admitted }: RunningContribution,
  { caller, signal, ...asked }: HandlerCall,
): Promise<Outcome> {
  signal?.throwIfAborted();
  try {
    return await guest.invoke({
      ...asked,
      signal,
      entry: contribution.key,
      contributionId: contribution.id,
      admitted,
      // Who acts without a user may do everything; what a stranger does at that moment may not.
      caller: caller && !isSystem(caller) ? caller : null,
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

/** Seconds after which a client may try again. */
const RETRY_AFTER = 1;

/** There is no process or place for it, or its program is not started again: 503 with `Retry-After`. */
export const createUnavailable = (what: string): Failure =>
  fail('SERVICE_UNAVAILABLE', `${what} is not available at the moment.`, { retryAfter: RETRY_AFTER });
