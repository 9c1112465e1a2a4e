/**
 * Stands for an operand in a condition, so that a statement is compiled once and run with other values. `name` is the key of the
 * value in `PlaceholderValues`; `value` is the value that the statement is compiled for.
 */
export class OperandPlaceholder {
  readonly name: string;
  readonly value: unknown;

  constructor(name: string, value: unknown) {
    this.name = name;
    this.value = value;
  }
}

/** Matches a text that is a number, such as `-1.5e3`. */
export const NUMBER_TEXT_PATTERN = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i;
const WHOLE = /^[+-]?\d{1,18}$/;

/**
 * Whether a placeholder may stand for this value. Values with a meaning of their own (`$NOW`, null, the empty text) and numbers beyond
 * 64 bits need another statement.
 */
export const isReplaceableByPlaceholder = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 && value.every(isPlain) : isPlain(value);

function isPlain(value: unknown): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value);
  if (typeof value !== 'string' || value === '' || value.startsWith('$') || value.includes('\0')) return false;
  const text = value.trim();
  return NUMBER_TEXT_PATTERN.test(text) ? WHOLE.test(text) : value !== 'null' && value !== 'NULL';
}
