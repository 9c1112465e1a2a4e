import { fail } from '#kernel';

/** A value that an editor may have stored as JSON text. @throws INVALID_PAYLOAD for text that is not JSON. */
export function parseJsonOption(value: unknown, name: string): unknown {
  if (typeof value !== 'string') return value;
  if (value.trim() === '') return undefined;
  try {
    return JSON.parse(value);
  } catch {
    throw fail('INVALID_PAYLOAD', `the option "${name}" is not JSON`);
  }
}

/** @throws INVALID_PAYLOAD where the option is no text, or empty. */
export function textOption(value: unknown, name: string): string {
  if (typeof value !== 'string' || value === '') throw fail('INVALID_PAYLOAD', `the option "${name}" must be a text`);
  return value;
}

/** One value, a list, or a list as text with commas. */
export function listOption(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (typeof value === 'string')
    return value
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
  return value === undefined || value === null ? [] : [value];
}
