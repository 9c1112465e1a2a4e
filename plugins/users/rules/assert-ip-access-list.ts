import { fail } from '#kernel';
import { parseIpRange } from '../../outbound/library.ts';

const FIELD = 'ip_access';

/** Validates `ip_access` of a role, a list or a text with commas: an unreadable address would lock users out or let clients in. */
export function assertIpAccessList(value: unknown): void {
  if (value === undefined || value === null) return;
  const isText = typeof value === 'string';
  if (!isText && !Array.isArray(value)) throw invalidAddresses('must be a list of addresses.');
  for (const [at, entry] of (isText ? value.split(',') : value).entries()) {
    if (isText && entry.trim() === '') continue;
    try {
      parseIpRange(String(entry).trim());
    } catch (error) {
      throw invalidAddresses(`has an entry that is no address: ${(error as Error).message}.`, ...(isText ? [] : [at]));
    }
  }
}

const invalidAddresses = (reason: string, ...rest: number[]) =>
  fail('INVALID_PAYLOAD', `${FIELD} ${reason}`, { field: FIELD, path: [FIELD, ...rest] });
