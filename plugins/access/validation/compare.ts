/** Stands for a dynamic value that is nobody's, such as `$CURRENT_USER` of an anonymous caller: compares with nothing. */
export const NO_VALUE = Symbol('nobody');

// Digits in one place only: two optional runs of them would be tried in every combination.
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;
const WHOLE = /^-?\d+$/;
const DATE = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?\s*(Z|[+-]\d{2}:?\d{2})?)?$/i;
const ZONED = /(Z|[+-]\d{2}:?\d{2})$/i;
const TIME = /^\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/;

const isNumeric = (value: unknown): value is number | string =>
  typeof value === 'number' || (typeof value === 'string' && NUMBER.test(value.trim()));

/** A number and its text are the same value; so are a flag and its name. */
export function isSameValue(left: unknown, right: unknown): boolean {
  if (left === right) return left !== NO_VALUE;
  if (left === null || right === null || left === undefined || right === undefined) return false;
  if (isNumeric(left) && isNumeric(right) && typeof left !== typeof right) return compareValues(left, right) === 0;
  if (typeof left === 'boolean' || typeof right === 'boolean') return String(left) === String(right);
  return typeof left === 'object' && typeof right === 'object' && JSON.stringify(left) === JSON.stringify(right);
}

/** Below zero, zero, above zero as in sorting; undefined where the two cannot be put in order. */
export function compareValues(left: unknown, right: unknown): number | undefined {
  if (isNumeric(left) && isNumeric(right)) {
    const [a, b] = [String(left).trim(), String(right).trim()];
    // Numbers of a million digits take seconds to read exactly, and no column holds them.
    const isExact = a.length + b.length < 200 && WHOLE.test(a) && WHOLE.test(b);
    return isExact ? sign(BigInt(a), BigInt(b)) : sign(Number(a), Number(b));
  }
  if (typeof left !== 'string' || typeof right !== 'string') return undefined;
  if (TIME.test(left) && TIME.test(right)) return sign(left, right);
  const [a, b] = [parseTimestamp(left), parseTimestamp(right)];
  return a === undefined || b === undefined ? undefined : sign(a, b);
}

const sign = <T extends number | bigint | string>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);

/** Dates without a zone are read as UTC, so that the answer does not depend on where the process runs. */
function parseTimestamp(text: string): number | undefined {
  if (!DATE.test(text)) return undefined;
  const time = Date.parse(text.length > 10 && !ZONED.test(text) ? `${text.replace(' ', 'T')}Z` : text);
  return Number.isNaN(time) ? undefined : time;
}

/** Text of a value for operators on text; undefined where it has none. */
export function toText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.join(',');
  return undefined;
}
