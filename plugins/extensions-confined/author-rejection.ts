import { ERRORS, type ErrorCode } from '#kernel';
import { CustomFailure } from '../http/library.ts';
import type { GuestFailure, HandlerRejection } from '../sandbox/library.ts';
import type { ContributionFailureLog, ServiceDetectedFailure } from './failure-log.ts';

const CODE = /^[A-Z][A-Z0-9_]{1,63}$/;

/**
 * Turns an author's `reject` into the answer for the client: its status, code and message. An invalid rejection is a
 * fault of the package, shown to its author and admins only: a status outside of 400 to 499, a malformed code, or a
 * code of the service with another status. Codes of signing in are refused, because clients drop their tokens over
 * them.
 */
function toRejection({ status, code, message }: HandlerRejection): CustomFailure | ServiceDetectedFailure {
  const fault = findFault(status, code, message);
  if (fault !== undefined) return { code: 'invalid-rejection', message: `reject(${fault}` };
  // Core code that checks the kind of failure sees a failed validation.
  return new CustomFailure('FAILED_VALIDATION', { status, code, message });
}

function findFault(status: number, code: string, message: string): string | undefined {
  if (!Number.isInteger(status) || status < 400 || status > 499) return 'status, …): a status is from 400 to 499.';
  if (!CODE.test(code)) return '…, code, …): a code is of capital letters, digits and "_", 2 to 64 characters.';
  if (message === '') return '…, message): a message is needed.';
  if (!Object.hasOwn(ERRORS, code)) return undefined;
  const isSignIn = ERRORS[code as ErrorCode].status === 401 || code === 'INVALID_TOKEN';
  if (isSignIn || ERRORS[code as ErrorCode].status !== status)
    return `${status}, "${code}", …): the service gives this code another meaning. Choose one of your own.`;
  return undefined;
}

/** The answer that the author stated by `reject`; undefined for any other failure, which is recorded for the author. */
export function toAuthorRejectionOrRecord(
  error: GuestFailure,
  failures: ContributionFailureLog,
  event?: string,
): CustomFailure | undefined {
  const stated = error.rejection && toRejection(error.rejection);
  if (stated instanceof CustomFailure) return stated;
  // `busy` is not a fault of the package, so it is not recorded.
  if (error.code !== 'busy') failures.record(stated ?? error, event);
  return undefined;
}
