import { fail } from '#kernel';
import { parseRange } from '../../outbound/library.ts';

const FIELD = 'ip_access';

/** The addresses of a role, as a list or a text with commas: what cannot be read would lock its users out, or let others in. */
export function checkAddresses(value: unknown): void {
  if (value === undefined || value === null) return;
  const isText = typeof value === 'string';
  if (!isText && !Array.isArray(value)) throw refused('must be a list of addresses.');
  for (const [at, entry] of (isText ? value.split(',') : value).entries()) {
    if (isText && entry.trim() === '') continue;
    try {
      parseRange(String(entry).trim());
    } catch (error) {
      throw refused(`has what is no address: ${(error as Error).message}.`, ...(isText ? [] : [at]));
    }
  }
}

const refused = (reason: string, ...rest: number[]) =>
  fail('INVALID_PAYLOAD', `${FIELD} ${reason}`, { field: FIELD, path: [FIELD, ...rest] });
