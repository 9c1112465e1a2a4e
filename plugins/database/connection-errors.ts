import { fail } from '#kernel';

/** Error codes of a connection that the server ended, or that broke. */
const LOST_CODES = /^(57P0[1-5]|08...|ECONNRESET|EPIPE|ETIMEDOUT)$/;
/** Messages of the driver for errors without a code. */
const LOST_MESSAGES = /^(Connection terminated|Client has encountered a connection error|Client was closed)/;
/** SQLSTATE of a statement that PostgreSQL cancelled, by DB_STATEMENT_TIMEOUT or for an administrator. */
const TIMED_OUT = '57014';

/** Whether the connection is lost and cannot run another statement. */
export function isConnectionLost(error: unknown): boolean {
  const { code, message, severity } = (error ?? {}) as { code?: string; message?: string; severity?: string };
  if (severity === 'FATAL' || severity === 'PANIC') return true;
  return typeof code === 'string' ? LOST_CODES.test(code) : LOST_MESSAGES.test(message ?? '');
}

/** Turns a lost connection and a statement timeout into SERVICE_UNAVAILABLE; answers any other error unchanged. */
export function toUnavailableOnDatabaseOutage(error: unknown): unknown {
  const unavailable = (reason: string) => fail('SERVICE_UNAVAILABLE', reason, { service: 'database' });
  if (isConnectionLost(error)) return unavailable('The connection to the database was lost; try again.');
  if ((error as { code?: unknown } | undefined)?.code === TIMED_OUT) return unavailable('The database took too long.');
  return error;
}
