import { fail } from '#kernel';
import { toUnavailableOnDatabaseOutage } from '../database/library.ts';

/** Removes quoted values from a message of PostgreSQL: they may come from a row that the caller may not read. */
export const withoutValuesInPostgresMessage = (message: string): string => message.replace(/:? ".*/s, '');

/**
 * Turns an error of PostgreSQL into a failure.
 * @throws INVALID_QUERY for a value that PostgreSQL refuses (class 22), SERVICE_UNAVAILABLE for what is not the fault of the query
 */
export function throwQueryFailure(error: unknown, collection?: string): never {
  const { code, message: text = '', where } = error as { code?: string; message?: string; where?: string };
  const message = /portal parameter/.test(where ?? '') ? text : withoutValuesInPostgresMessage(text);
  // 23514 in a read: a value violates the domain of an array's elements.
  if (typeof code === 'string' && /^(22|23514$)/.test(code))
    throw fail('INVALID_QUERY', `a value does not fit: ${message}`);
  // Class 54: more columns, deeper expressions or longer answers than PostgreSQL can handle.
  if (typeof code === 'string' && /^54/.test(code)) throw fail('INVALID_QUERY', `the query is too large: ${message}`);
  // Errors of PostGIS have no class of their own.
  if (code === 'XX000' && /SRID|GeoJSON|geometry/i.test(message))
    throw fail('INVALID_QUERY', `a geometry does not fit: ${message}`);
  if (code === '55000' && /materialized view/.test(text)) throw unpopulatedViewFailure(text, collection);
  if (code === '42501')
    throw fail(
      'SERVICE_UNAVAILABLE',
      'The database role of the service may not read a table of this request: grant select on it.',
      { service: 'database' },
    );
  if (code === '40P01')
    throw fail('SERVICE_UNAVAILABLE', 'The query was in a deadlock with another change; try again.', {
      service: 'database',
    });
  if (code === 'ERR_STRING_TOO_LONG') {
    const most = Number(/0x[\da-f]+/.exec(text)?.[0]);
    const size = Number.isFinite(most) ? `longer than the ${most} characters allowed` : 'too large';
    throw fail('INVALID_QUERY', `the answer is ${size}: ask for fewer rows or fields`);
  }
  if (code === '57014') throw fail('SERVICE_UNAVAILABLE', 'The database took too long.', { service: 'database' });
  throw toUnavailableOnDatabaseOutage(error);
}

/**
 * The failure for a materialized view that was never filled. It names the view only when that is the collection of the request:
 * another view may be hidden from the caller.
 */
function unpopulatedViewFailure(message: string, collection: string | undefined) {
  const isOwn = collection !== undefined && message.includes(`"${collection}"`);
  const view = isOwn ? `The materialized view ${collection}` : 'A materialized view of this request';
  const remedy = `REFRESH MATERIALIZED VIEW${isOwn ? ` ${collection}` : ''}`;
  const reason = `${view} was never filled: run ${remedy}.`;
  return fail('SERVICE_UNAVAILABLE', reason, { service: 'database', reason });
}
