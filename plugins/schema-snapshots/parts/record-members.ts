import { fail } from '#kernel';
import type { JsonObject } from '../contract.ts';

/** A member that identifies a record. @throws INVALID_PAYLOAD */
export function requireMember(record: JsonObject, name: string, part: string): string {
  const value = record[name];
  if (typeof value !== 'string' || value === '')
    throw fail('INVALID_PAYLOAD', `An entry of "${part}" has no "${name}".`, { path: [part] });
  return value;
}

/** The members of a record with these names; a missing one gets its default. */
export const withDefaults = (record: JsonObject, defaults: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(defaults).map(([name, fallback]) => [name, record[name] === undefined ? fallback : record[name]]),
  );
