import type { Collection } from '../../schema/contract.ts';
import type { Key, Payload } from '../contract.ts';

/**
 * The values the platform sets that need no grant of the caller. Whose key decides who somebody is (a user's role), the
 * alias on the other side is no way around the grant for it.
 */
export const withoutGrant = (collection: Collection, given: Payload): Payload =>
  Object.fromEntries(Object.entries(given).filter(([name]) => !collection.fields.get(name)?.sensitive));

/** Listeners see what the platform sets as well; permissions are asked about the rest only. */
export const withoutFields = (payload: Payload, given: Payload): Payload =>
  Object.fromEntries(Object.entries(payload).filter(([name]) => !Object.hasOwn(given, name)));

/** A row sent back whole has its key with it, which is no change, and one that some columns would refuse. */
export function withoutSameKey(name: string, keys: readonly Key[], payload: Payload): Payload {
  if (keys.length !== 1 || String(payload[name]) !== String(keys[0])) return payload;
  return Object.fromEntries(Object.entries(payload).filter(([other]) => other !== name));
}
