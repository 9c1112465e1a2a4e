import { fail } from '#kernel';
import type { Collection } from '../../schema/contract.ts';
import type { Key, Payload } from '../contract.ts';

/**
 * The values the platform sets that need no grant of the caller. Whose key decides who somebody is (a user's role), the
 * alias on the other side is no way around the grant for it.
 */
export const withoutSensitiveFields = (collection: Collection, platformValues: Payload): Payload =>
  Object.fromEntries(Object.entries(platformValues).filter(([name]) => !collection.fields.get(name)?.sensitive));

/** Listeners see what the platform sets as well; permissions are asked about the rest only. */
export const withoutFields = (payload: Payload, platformValues: Payload): Payload =>
  Object.fromEntries(Object.entries(payload).filter(([name]) => !Object.hasOwn(platformValues, name)));

/**
 * Rows of the service's own keep their key: rules, owners, sessions and names of stored bytes go by it.
 * @throws INVALID_PAYLOAD
 */
export function assertSameKey({ system, primary }: Collection, keys: readonly Key[], payload: Payload): void {
  const value = system && primary !== null ? payload[primary] : undefined;
  if (primary === null || value === undefined) return;
  if (typeof value === 'object' || keys.some((key) => String(key) !== String(value).toLowerCase()))
    throw fail('INVALID_PAYLOAD', `The ${primary} cannot be changed.`, { field: primary, path: [primary] });
}
