import { fail } from '#kernel';

/** Ended by the server, or broken on the way. */
const LOST_CODES = /^(57P0[1-5]|08...|ECONNRESET|EPIPE|ETIMEDOUT)$/;
/** The driver's own words, which have no code. */
const LOST_MESSAGES = /^(Connection terminated|Client has encountered a connection error|Client was closed)/;
/** DB_STATEMENT_TIMEOUT is over, or an administrator has ended the statement. */
const TIMED_OUT = '57014';

/** Is the connection gone, so that nothing can be asked on it any more? */
export function isConnectionLost(error: unknown): boolean {
  const { code, message, severity } = (error ?? {}) as { code?: string; message?: string; severity?: string };
  if (severity === 'FATAL' || severity === 'PANIC') return true;
  return typeof code === 'string' ? LOST_CODES.test(code) : LOST_MESSAGES.test(message ?? '');
}

/** A lost connection, and a statement that took too long, in the terms of the API; any other error as it is. */
export function asUnavailable(error: unknown): unknown {
  const unavailable = (reason: string) => fail('SERVICE_UNAVAILABLE', reason, { service: 'database' });
  if (isConnectionLost(error)) return unavailable('The connection to the database was lost; try again.');
  if ((error as { code?: unknown } | undefined)?.code === TIMED_OUT) return unavailable('The database took too long.');
  return error;
}
