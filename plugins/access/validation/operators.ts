import { NOBODY, order, same, textOf } from './compare.ts';
import { parsePattern, testPattern } from './pattern.ts';

/** What a broken rule says beside its field (errors, "FAILED_VALIDATION payload"). */
export interface Complaint {
  readonly type: string;
  readonly valid?: unknown;
  readonly invalid?: unknown;
  readonly substring?: unknown;
}

/** Undefined where the value keeps the rule. The value is never absent here. */
export type Check = (value: unknown, operand: unknown) => Complaint | undefined;

export const listOf = (operand: unknown): readonly unknown[] =>
  (Array.isArray(operand)
    ? operand
    : typeof operand === 'string'
      ? operand.split(',').map((part) => part.trim())
      : [operand]
  ).filter((one) => one !== NOBODY);

const isNull = (value: unknown) => value === null || value === undefined;
const isEmpty = (value: unknown) => isNull(value) || value === '' || (Array.isArray(value) && value.length === 0);
/** `true`, or text that says so: rules stored by others hold both. */
export const isOn = (operand: unknown) => operand !== false && operand !== 'false' && operand !== 0 && operand !== '0';
export const shown = (operand: unknown) => (operand === NOBODY ? null : operand);

/** A number in a rule stands for the number and for its text. */
function equals(operand: unknown): Complaint {
  const isNumber =
    typeof operand === 'number' ||
    (typeof operand === 'string' && operand.trim() !== '' && !Number.isNaN(Number(operand)));
  return isNumber ? { type: 'in', valid: [Number(operand), String(operand)] } : { type: 'eq', valid: shown(operand) };
}

const ordered =
  (type: string, fits: (sign: number) => boolean): Check =>
  (value, operand) => {
    const sign = order(value, operand);
    return sign !== undefined && fits(sign) ? undefined : { type, valid: shown(operand) };
  };

const lower = (text: string) => text.toLowerCase();
const asIs = (text: string) => text;

/** Negated operators hold for values without text (null), the others do not. */
const text =
  (
    type: string,
    fits: (value: string, part: string) => boolean,
    fold: (text: string) => string,
    negated: boolean,
  ): Check =>
  (value, operand) => {
    const part = textOf(operand);
    const whole = textOf(value);
    const found = whole !== undefined && part !== undefined && fits(fold(whole), fold(part));
    const holds = negated ? part !== undefined && (isNull(value) || (whole !== undefined && !found)) : found;
    return holds ? undefined : { type, substring: shown(operand) };
  };

const contains = (value: string, part: string) => value.includes(part);
const starts = (value: string, part: string) => value.startsWith(part);
const ends = (value: string, part: string) => value.endsWith(part);

const least = ordered('gte', (sign) => sign >= 0);
const most = ordered('lte', (sign) => sign <= 0);

const presence =
  (type: string, opposite: string, wanted: (value: unknown) => boolean): Check =>
  (value, operand) => {
    const on = isOn(operand);
    return wanted(value) === on ? undefined : { type: on ? type : opposite };
  };

/** Every operator that a row about to be written can be measured by. */
export const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['_eq', (value, operand) => (same(value, operand) ? undefined : equals(operand))],
  [
    '_neq',
    (value, operand) =>
      same(value, operand) || operand === NOBODY ? { type: 'neq', invalid: shown(operand) } : undefined,
  ],
  ['_ieq', (value, operand) => (folded(value, operand) ? undefined : { type: 'eq', valid: shown(operand) })],
  [
    '_nieq',
    (value, operand) =>
      folded(value, operand) || operand === NOBODY ? { type: 'neq', invalid: shown(operand) } : undefined,
  ],
  ['_lt', ordered('lt', (sign) => sign < 0)],
  ['_lte', most],
  ['_gt', ordered('gt', (sign) => sign > 0)],
  ['_gte', least],
  ['_between', (value, operand) => least(value, listOf(operand)[0]) ?? most(value, listOf(operand)[1])],
  [
    '_nbetween',
    (value, operand) => {
      const [from, to] = listOf(operand);
      const inside = !least(value, from) && !most(value, to);
      return inside || from === undefined || to === undefined ? { type: 'nin', invalid: [from, to] } : undefined;
    },
  ],
  [
    '_in',
    (value, operand) =>
      listOf(operand).some((one) => same(value, one)) ? undefined : { type: 'in', valid: listOf(operand) },
  ],
  [
    '_nin',
    (value, operand) =>
      listOf(operand).some((one) => same(value, one)) ? { type: 'nin', invalid: listOf(operand) } : undefined,
  ],
  ['_null', presence('null', 'nnull', isNull)],
  ['_nnull', presence('nnull', 'null', (value) => !isNull(value))],
  ['_empty', presence('empty', 'nempty', isEmpty)],
  ['_nempty', presence('nempty', 'empty', (value) => !isEmpty(value))],
  ['_contains', text('contains', contains, asIs, false)],
  ['_ncontains', text('ncontains', contains, asIs, true)],
  ['_icontains', text('icontains', contains, lower, false)],
  ['_nicontains', text('nicontains', contains, lower, true)],
  ['_starts_with', text('starts_with', starts, asIs, false)],
  ['_nstarts_with', text('nstarts_with', starts, asIs, true)],
  ['_istarts_with', text('istarts_with', starts, lower, false)],
  ['_nistarts_with', text('nistarts_with', starts, lower, true)],
  ['_ends_with', text('ends_with', ends, asIs, false)],
  ['_nends_with', text('nends_with', ends, asIs, true)],
  ['_iends_with', text('iends_with', ends, lower, false)],
  ['_niends_with', text('niends_with', ends, lower, true)],
  ['_regex', (value, operand) => (matches(value, operand) ? undefined : { type: 'regex', invalid: value })],
]);

function folded(value: unknown, operand: unknown): boolean {
  const [a, b] = [textOf(value), textOf(operand)];
  return a !== undefined && b !== undefined ? lower(a) === lower(b) : same(value, operand);
}

/** With or without enclosing slashes; an expression that cannot be read, or takes too long, is kept by nothing. */
function matches(value: unknown, operand: unknown): boolean {
  const whole = textOf(value);
  const source = textOf(operand);
  if (whole === undefined || source === undefined) return false;
  try {
    return testPattern(parsePattern(source), whole) === true;
  } catch {
    return false;
  }
}
