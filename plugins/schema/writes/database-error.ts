import { type ErrorCode, Failure, Failures, fail } from '#kernel';

const CODES: Readonly<Record<string, ErrorCode>> = {
  '23502': 'CONTAINS_NULL_VALUES',
  '23503': 'INVALID_FOREIGN_KEY',
  '23505': 'RECORD_NOT_UNIQUE',
  '22001': 'VALUE_TOO_LONG',
  '22003': 'VALUE_OUT_OF_RANGE',
};

/**
 * Classes of SQLSTATE that become INVALID_PAYLOAD: bad values, unknown or duplicate names, dependent objects, limits,
 * privileges.
 */
const REFUSED_CLASSES = ['22', '2B', '42', '0A', '54'];

/** SQLSTATE of a lock timeout and of a deadlock. */
const LOCK_ERRORS = ['55P03', '40P01'];

/**
 * Turns an error of PostgreSQL into a failure. Only admins change the schema, so the failure may quote the message of PostgreSQL.
 */
export function toSchemaChangeFailure(error: unknown): unknown {
  if (error instanceof Failure || error instanceof Failures) return error;
  const { code, message, table, column } = error as {
    code?: unknown;
    message?: string;
    table?: string;
    column?: string;
  };
  if (typeof code !== 'string' || code.length !== 5) return error;
  if (LOCK_ERRORS.includes(code))
    return fail('SERVICE_UNAVAILABLE', 'The table is in use; try again.', { service: 'database' });
  const known = Object.hasOwn(CODES, code) ? CODES[code] : undefined;
  if (known) return fail(known, message, { ...(table && { collection: table }), ...(column && { field: column }) });
  return REFUSED_CLASSES.includes(code.slice(0, 2))
    ? fail('INVALID_PAYLOAD', `The database refuses: ${message}.`)
    : error;
}
