import { type Caller, type Failure, fail, isSystem } from '#kernel';
import type { PackageHandle } from '../broker/contract.ts';
import type { ConfinedHandlerResult, GuestProgram, InvocationRequest, InvocationTrigger } from '../sandbox/contract.ts';
import type { ContributionFailureLog } from './failure-log.ts';
import type { ConfinedContribution } from './gate/contributions.ts';

/** A loaded contribution: its program and its access to the host. */
export interface LoadedContribution {
  readonly contribution: ConfinedContribution;
  readonly guest: GuestProgram;
  readonly brokerAccess: PackageHandle;
  readonly failures: ContributionFailureLog;
}

type HandlerCall = Pick<InvocationRequest, 'input' | 'prepare' | 'signal'> & {
  readonly activation: InvocationTrigger;
  readonly caller: Caller | null;
};

/** Runs a handler. Rejects with a GuestFailure, or with the signal's reason if the client has disconnected. */
export async function runConfinedHandler(
  { contribution, guest, brokerAccess }: LoadedContribution,
  { caller, signal, ...request }: HandlerCall,
): Promise<ConfinedHandlerResult> {
  signal?.throwIfAborted();
  try {
    return await guest.invoke({
      ...request,
      signal,
      entry: contribution.key,
      contributionId: contribution.id,
      brokerAccess,
      // The system may do everything; third-party code that runs on its behalf acts without a user instead.
      caller: caller && !isSystem(caller) ? caller : null,
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

/** Seconds after which a client may try again. */
const RETRY_AFTER = 1;

/** 503 with `Retry-After`: no process is free, or the program is parked. */
export const createUnavailable = (what: string): Failure =>
  fail('SERVICE_UNAVAILABLE', `${what} is not available at the moment.`, { retryAfter: RETRY_AFTER });
