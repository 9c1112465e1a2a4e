import { fail } from '#kernel';
import { MAX_NAME_BYTES } from '../constraint-names.ts';
import { FIELD_TYPES, type FieldType, SYSTEM_COLLECTION_PREFIX } from '../contract.ts';

export type Payload = Readonly<Record<string, unknown>>;

export const createInvalidPayloadFailure = (reason: string): Error => fail('INVALID_PAYLOAD', reason);

export function requirePayloadObject(value: unknown, label: string): Payload {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw createInvalidPayloadFailure(`${label} must be an object.`);
  return value as Payload;
}

/** The own member of a payload: inherited ones such as `constructor` are undefined. */
export const ownPayloadMember = (payload: Payload, key: string): unknown =>
  Object.hasOwn(payload, key) ? payload[key] : undefined;

/** A member of a payload that is an object, null or absent. @throws INVALID_PAYLOAD */
export function parseObjectPayloadMember(payload: Payload, key: string): Payload | null | undefined {
  const value = ownPayloadMember(payload, key);
  return value === undefined || value === null ? value : requirePayloadObject(value, `"${key}"`);
}

export function parseBooleanPayloadMember(payload: Payload | null | undefined, key: string): boolean | undefined {
  const value = payload ? ownPayloadMember(payload, key) : undefined;
  if (value === undefined || value === null || typeof value === 'boolean') return value ?? undefined;
  throw createInvalidPayloadFailure(`"${key}" must be true or false.`);
}

export function parseIntegerPayloadMember(
  payload: Payload | null | undefined,
  key: string,
  least: number,
  most: number,
): number | undefined {
  const value = payload ? ownPayloadMember(payload, key) : undefined;
  if (value === undefined || value === null) return undefined;
  if (!Number.isSafeInteger(value) || (value as number) < least || (value as number) > most) {
    throw createInvalidPayloadFailure(`"${key}" must be a whole number from ${least} to ${most}.`);
  }
  return value as number;
}

export function parseFieldTypeMember(payload: Payload): FieldType | undefined {
  const value = ownPayloadMember(payload, 'type');
  if (value === undefined || value === null) return undefined;
  if (!FIELD_TYPES.includes(value as FieldType))
    throw createInvalidPayloadFailure(`"${String(value)}" is not a field type.`);
  return value as FieldType;
}

// Characters with a meaning in queries, paths or SQL, and control characters.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression refuses them
const FORBIDDEN_CHARACTERS = /[\u0000-\u001f\u007f"'`/\\.,:;*()[\]{}?#%&=<>|]/;
/** Names that queries and JavaScript objects reserve. */
const RESERVED_NAMES = ['_and', '_or', '_some', '_none', '__proto__', 'constructor', 'prototype'];

/** Parses the name of a new collection or field. @throws INVALID_PAYLOAD */
export function parseCollectionOrFieldName(payload: Payload, key: 'collection' | 'field'): string {
  const value = ownPayloadMember(payload, key);
  if (typeof value !== 'string' || value === '') throw createInvalidPayloadFailure(`"${key}" is required.`);
  if (
    value.trim() !== value ||
    FORBIDDEN_CHARACTERS.test(value) ||
    value.startsWith('$') ||
    RESERVED_NAMES.includes(value) ||
    !value.isWellFormed()
  ) {
    throw createInvalidPayloadFailure(
      `"${key}" must be a plain name: no spaces around it, no quotes, dots, slashes or control characters.`,
    );
  }
  const bytes = Buffer.byteLength(value);
  if (bytes > MAX_NAME_BYTES)
    throw createInvalidPayloadFailure(`"${key}" has ${bytes} bytes, more than the ${MAX_NAME_BYTES} allowed.`);
  if (key === 'collection' && value.toLowerCase().startsWith(SYSTEM_COLLECTION_PREFIX)) {
    throw createInvalidPayloadFailure(`Names starting with "${SYSTEM_COLLECTION_PREFIX}" are reserved.`);
  }
  return value;
}
