import { isPostgresError } from './postgres-error.ts';

/**
 * Types such as `regclass`, `jsonpath` and `hstore` reject a text with codes that otherwise mean a wrong statement: a
 * syntax error, an unknown name. Where PostgreSQL names a parameter the value was wrong, as with every other type.
 * Domains of elements are checked there as well and keep the code of their constraint.
 */
export function withInvalidTextErrorCode(error: unknown): unknown {
  if (!isPostgresError(error) || !/portal parameter \$\d/.test(error.where ?? '')) return error;
  return /^(22|23|54|57)/.test(error.code) ? error : Object.assign(error, { code: '22P02' });
}
