import { fail } from '#kernel';
import { FIELD_TYPES, type FieldType, SYSTEM_PREFIX } from '../contract.ts';
import { MAX_NAME_BYTES } from '../names.ts';

export type Payload = Readonly<Record<string, unknown>>;

export const invalid = (reason: string): Error => fail('INVALID_PAYLOAD', reason);

export function objectOf(value: unknown, what: string): Payload {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid(`${what} must be an object.`);
  return value as Payload;
}

/** An own member, so that `constructor` and the like are nothing. */
export const member = (payload: Payload, key: string): unknown =>
  Object.hasOwn(payload, key) ? payload[key] : undefined;

/** A member that is an object, null, or not there. */
export function part(payload: Payload, key: string): Payload | null | undefined {
  const value = member(payload, key);
  return value === undefined || value === null ? value : objectOf(value, `"${key}"`);
}

export function flagOf(payload: Payload | null | undefined, key: string): boolean | undefined {
  const value = payload ? member(payload, key) : undefined;
  if (value === undefined || value === null || typeof value === 'boolean') return value ?? undefined;
  throw invalid(`"${key}" must be true or false.`);
}

export function wholeOf(
  payload: Payload | null | undefined,
  key: string,
  least: number,
  most: number,
): number | undefined {
  const value = payload ? member(payload, key) : undefined;
  if (value === undefined || value === null) return undefined;
  if (!Number.isSafeInteger(value) || (value as number) < least || (value as number) > most) {
    throw invalid(`"${key}" must be a whole number from ${least} to ${most}.`);
  }
  return value as number;
}

export function typeOf(payload: Payload): FieldType | undefined {
  const value = member(payload, 'type');
  if (value === undefined || value === null) return undefined;
  if (!FIELD_TYPES.includes(value as FieldType)) throw invalid(`"${String(value)}" is not a field type.`);
  return value as FieldType;
}

// Characters that mean something in queries, paths or SQL, and control characters.
// biome-ignore lint/suspicious/noControlCharactersInRegex: refusing them is the point
const UNFIT = /[\u0000-\u001f\u007f"'`/\\.,:;*()[\]{}?#%&=<>|]/;
/** Words that queries and JavaScript objects keep for themselves. */
const KEPT = ['_and', '_or', '_some', '_none', '__proto__', 'constructor', 'prototype'];

/** A name for a new collection or field. */
export function nameOf(payload: Payload, key: 'collection' | 'field'): string {
  const value = member(payload, key);
  if (typeof value !== 'string' || value === '') throw invalid(`"${key}" is required.`);
  if (
    value.trim() !== value ||
    UNFIT.test(value) ||
    value.startsWith('$') ||
    KEPT.includes(value) ||
    !value.isWellFormed()
  ) {
    throw invalid(
      `"${key}" must be a plain name: no spaces around it, no quotes, dots, slashes or control characters.`,
    );
  }
  const bytes = Buffer.byteLength(value);
  if (bytes > MAX_NAME_BYTES) throw invalid(`"${key}" has ${bytes} bytes, more than the ${MAX_NAME_BYTES} allowed.`);
  if (key === 'collection' && value.toLowerCase().startsWith(SYSTEM_PREFIX)) {
    throw invalid(`Names starting with "${SYSTEM_PREFIX}" are reserved.`);
  }
  return value;
}
