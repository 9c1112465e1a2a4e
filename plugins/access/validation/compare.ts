/** Stands for a dynamic value without a value, such as `$CURRENT_USER` of an anonymous caller. It equals nothing. */
export const NO_DYNAMIC_VALUE = Symbol('no value');

// Two optional runs of digits would make the expression backtrack quadratically.
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;
const WHOLE = /^-?\d+$/;
const DATE = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?\s*(Z|[+-]\d{2}:?\d{2})?)?$/i;
const ZONED = /(Z|[+-]\d{2}:?\d{2})$/i;
const TIME = /^\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/;

const isNumeric = (value: unknown): value is number | string =>
  typeof value === 'number' || (typeof value === 'string' && NUMBER.test(value.trim()));

/** A number equals its text, and a boolean equals its text. */
export function isSameValue(left: unknown, right: unknown): boolean {
  if (left === right) return left !== NO_DYNAMIC_VALUE;
  if (left === null || right === null || left === undefined || right === undefined) return false;
  if (isNumeric(left) && isNumeric(right) && typeof left !== typeof right) return compareValues(left, right) === 0;
  if (typeof left === 'boolean' || typeof right === 'boolean') return String(left) === String(right);
  return typeof left === 'object' && typeof right === 'object' && JSON.stringify(left) === JSON.stringify(right);
}

/** Negative, zero or positive as in sorting; undefined for values without an order. */
export function compareValues(left: unknown, right: unknown): number | undefined {
  if (isNumeric(left) && isNumeric(right)) {
    const [a, b] = [String(left).trim(), String(right).trim()];
    // Parsing numbers of a million digits exactly takes seconds, and no column holds them.
    const isExact = a.length + b.length < 200 && WHOLE.test(a) && WHOLE.test(b);
    return isExact ? sign(BigInt(a), BigInt(b)) : sign(Number(a), Number(b));
  }
  if (typeof left !== 'string' || typeof right !== 'string') return undefined;
  if (TIME.test(left) && TIME.test(right)) return sign(left, right);
  const [a, b] = [parseTimestamp(left), parseTimestamp(right)];
  return a === undefined || b === undefined ? undefined : sign(a, b);
}

const sign = <T extends number | bigint | string>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);

/** Dates without a zone are UTC, so that the result does not depend on the time zone of the process. */
function parseTimestamp(text: string): number | undefined {
  if (!DATE.test(text)) return undefined;
  const time = Date.parse(text.length > 10 && !ZONED.test(text) ? `${text.replace(' ', 'T')}Z` : text);
  return Number.isNaN(time) ? undefined : time;
}

/** The text of a value for operators such as `_contains`; undefined for null and objects. */
export function toComparableText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.join(',');
  return undefined;
}
