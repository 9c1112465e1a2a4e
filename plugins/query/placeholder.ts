/**
 * In a condition, in the place of what is compared with: the statement is compiled once and run with other values, each
 * under this name. `value` is the one it is compiled for.
 */
export class Given {
  readonly name: string;
  readonly value: unknown;

  constructor(name: string, value: unknown) {
    this.name = name;
    this.value = value;
  }
}

/** Numbers as texts. */
export const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i;
const WHOLE = /^[+-]?\d{1,18}$/;

/**
 * Does a statement that was compiled for one such value serve all others? Values that mean something else (`$NOW`, null, the
 * empty text), or that no 64-bit integer can hold, make another statement.
 */
export const isGivable = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 && value.every(isPlain) : isPlain(value);

function isPlain(value: unknown): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value);
  if (typeof value !== 'string' || value === '' || value.startsWith('$') || value.includes('\0')) return false;
  const text = value.trim();
  return NUMBER.test(text) ? WHOLE.test(text) : value !== 'null' && value !== 'NULL';
}
