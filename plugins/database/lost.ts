import { fail } from '#kernel';

/** Ended by the server, or broken on the way. */
const CODES = /^(57P0[1-5]|08...|ECONNRESET|EPIPE|ETIMEDOUT)$/;
/** The driver's own words, which have no code. */
const WORDS = /^(Connection terminated|Client has encountered a connection error|Client was closed)/;

/** Is the connection gone, so that nothing can be asked on it any more? */
export function isLost(error: unknown): boolean {
  const { code, message, severity } = (error ?? {}) as { code?: string; message?: string; severity?: string };
  if (severity === 'FATAL' || severity === 'PANIC') return true;
  return typeof code === 'string' ? CODES.test(code) : WORDS.test(message ?? '');
}

/** A lost connection in the terms of the API; any other error as it is. */
export const asUnavailable = (error: unknown): unknown =>
  isLost(error)
    ? fail('SERVICE_UNAVAILABLE', 'The connection to the database was lost; try again.', { service: 'database' })
    : error;
