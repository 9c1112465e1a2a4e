import type { ColumnKind } from './reference-rows.ts';

// The reference implementation of order, operators, functions and aggregates.

export type FilterOperators = Readonly<Record<string, unknown>>;

/** Returns the rows that `limit`, `offset` and `page` select. */
export function slicePage<T>(rows: readonly T[], limit: unknown, offset: unknown, page: unknown): readonly T[] {
  const most = typeof limit !== 'number' ? 100 : limit === -1 ? Number.POSITIVE_INFINITY : limit;
  // Without a limit any page has all rows.
  const paged = limit === -1 ? 0 : most * ((page as number) - 1);
  const start = page ? paged : ((offset as number | null | undefined) ?? 0);
  return rows.slice(start, start + most);
}

/** Computes an aggregate of the values of a field; null for no values. */
export function aggregateValues(fn: string, input: readonly unknown[]): number | null {
  const values = fn.endsWith('Distinct')
    ? [...new Map(input.map((one) => [JSON.stringify(one), one])).values()]
    : input;
  if (fn.startsWith('count')) return values.length;
  if (values.length === 0) return null;
  const numbers = values.map(Number);
  const sum = numbers.reduce((a, b) => a + b, 0);
  if (fn === 'min' || fn === 'max') return Math[fn](...numbers);
  return fn.startsWith('avg') ? sum / numbers.length : sum;
}

/** Compares two values for an ascending sort, with null last. */
export function compareColumnValues(kind: ColumnKind, a: unknown, b: unknown): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  if (kind === 'big') return BigInt(a as string) < BigInt(b as string) ? -1 : a === b ? 0 : 1;
  const [one, other] = kind === 'number' || kind === 'whole' ? [Number(a), Number(b)] : [a as string, b as string];
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Whether a value matches all operators. Null matches only the operators about null. */
export function matchesOperators(kind: ColumnKind, value: unknown, rules: FilterOperators): boolean {
  return Object.entries(rules).every(([operator, operand]) => {
    if (operand === undefined) return true;
    if (operator === '_null') return (value === null) === operand;
    if (operator === '_nnull') return (value !== null) === operand;
    if (operator === '_empty') return (value === null || value === '') === operand;
    if (operator === '_nempty') return (value !== null && value !== '') === operand;
    if (operand === null) return operator === '_eq' ? value === null : value !== null;
    if (value === null) return false;
    if (operator.startsWith('_n') && operator !== '_neq')
      return !matchesOperators(kind, value, { [operator.replace('_n', '_')]: operand });
    const order = (other: unknown) =>
      kind === 'key' ? (String(value) === String(other) ? 0 : 1) : compareColumnValues(kind, value, other);
    switch (operator) {
      case '_eq':
        return order(operand) === 0;
      case '_neq':
        return order(operand) !== 0;
      case '_gt':
        return order(operand) > 0;
      case '_gte':
        return order(operand) >= 0;
      case '_lt':
        return order(operand) < 0;
      case '_lte':
        return order(operand) <= 0;
      case '_in':
        return (operand as readonly unknown[]).some((one) => order(one) === 0);
      case '_between':
        return order((operand as readonly unknown[])[0]) >= 0 && order((operand as readonly unknown[])[1]) <= 0;
      case '_contains':
        return (value as string).includes(operand as string);
      case '_icontains':
        return (value as string).toLowerCase().includes((operand as string).toLowerCase());
      case '_starts_with':
        return (value as string).startsWith(operand as string);
      case '_ends_with':
        return (value as string).endsWith(operand as string);
      default:
        throw new Error(`${operator} is not known here`);
    }
  });
}

const DAY = 86_400_000;

/** Computes a function of the query language on a date, a time, a list or a JSON value. */
export function computeQueryFunction(fn: string, value: unknown, path?: string): unknown {
  if (value === null) return null;
  if (fn === 'count') return Array.isArray(value) ? value.length : null;
  if (fn === 'json') return readJsonPath(value, path as string);
  const text = value as string;
  const date = new Date(text.includes('-') ? (text.includes('T') ? text : `${text}T00:00:00Z`) : `2000-01-01T${text}Z`);
  const weekday = date.getUTCDay();
  // A week belongs to the year of its Thursday.
  const thursday = new Date(date.getTime() + (4 - (weekday || 7)) * DAY);
  const parts: Readonly<Record<string, number>> = {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    week: Math.floor((thursday.getTime() - Date.UTC(thursday.getUTCFullYear(), 0, 1)) / DAY / 7) + 1,
    day: date.getUTCDate(),
    weekday,
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
  };
  return parts[fn];
}

function readJsonPath(value: unknown, path: string): unknown {
  const steps = path.split(/[.[\]]+/).filter((step) => step !== '');
  let found: unknown = value;
  for (const step of steps) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return null;
    found = (found as Readonly<Record<string, unknown>>)[step];
  }
  return found ?? null;
}
