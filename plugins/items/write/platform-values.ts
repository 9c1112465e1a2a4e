import { fail } from '#kernel';
import type { Collection } from '../../schema/contract.ts';
import type { Key, Payload } from '../contract.ts';

/**
 * Platform values that need no grant of the caller. Fields of keys that carry rights (a user's role) do need one, so
 * that the alias on the other side cannot avoid the grant.
 */
export const withoutSensitivePlatformValues = (collection: Collection, platformValues: Payload): Payload =>
  isEmptyPayload(platformValues)
    ? platformValues
    : Object.fromEntries(Object.entries(platformValues).filter(([name]) => !collection.fields.get(name)?.sensitive));

/**
 * The payload without the platform values: listeners receive them as well, but permissions are checked for the other
 * fields only.
 */
export const withoutPlatformValues = (payload: Payload, platformValues: Payload): Payload =>
  isEmptyPayload(platformValues)
    ? payload
    : Object.fromEntries(Object.entries(payload).filter(([name]) => !Object.hasOwn(platformValues, name)));

/** Whether a payload has no fields. Most writes have no platform values: then no payload is copied for them. */
export function isEmptyPayload(payload: Payload): boolean {
  for (const _name in payload) return false;
  return true;
}

/**
 * Rows of system collections keep their key: rules, owners, sessions and names of stored objects depend on it.
 * @throws INVALID_PAYLOAD
 */
export function assertSystemKeyUnchanged(
  { system, primary }: Collection,
  keys: readonly Key[],
  payload: Payload,
): void {
  const value = system && primary !== null ? payload[primary] : undefined;
  if (primary === null || value === undefined) return;
  if (typeof value === 'object' || keys.some((key) => String(key) !== String(value).toLowerCase()))
    throw fail('INVALID_PAYLOAD', `The ${primary} cannot be changed.`, { field: primary, path: [primary] });
}
