import { ERRORS, type ErrorCode } from '#kernel';
import { StatedFailure } from '../http/library.ts';
import type { GuestFailure, Rejection } from '../sandbox/library.ts';
import type { FailureLog, FailureNote } from './failure-log.ts';

const CODE = /^[A-Z][A-Z0-9_]{1,63}$/;

/**
 * What a client is answered where an author called `reject`: his status, code and message. What is not in order is a fault
 * of the package, and told to nobody else: a status outside of 400 to 499, another form of code, or a code of the
 * service's own with another meaning. Clients act on those of signing in, so none of these is for packages.
 */
function toRejection({ status, code, message }: Rejection): StatedFailure | FailureNote {
  const fault = findFault(status, code, message);
  if (fault !== undefined) return { code: 'invalid-rejection', message: `reject(${fault}` };
  // For code of the service that asks what kind of failure it is: something was not valid.
  return new StatedFailure('FAILED_VALIDATION', { status, code, message });
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

/** What the client is answered where the author stated it; undefined for any other failure, which is noted for the author. */
export function toStatedFailure(error: GuestFailure, failures: FailureLog, event?: string): StatedFailure | undefined {
  const stated = error.rejection && toRejection(error.rejection);
  if (stated instanceof StatedFailure) return stated;
  // That too much is under way is nobody's fault, and not new to anybody.
  if (error.code !== 'busy') failures.record(stated ?? error, event);
  return undefined;
}
