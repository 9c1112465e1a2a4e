import { compareValues, isSameValue, NO_DYNAMIC_VALUE, toComparableText } from './compare.ts';
import { matchRegularExpressionWithTimeout, parseRegularExpression } from './pattern.ts';

/** The extensions of a violated rule, without its field (errors, "FAILED_VALIDATION payload"). */
export interface RuleViolation {
  readonly type: string;
  readonly valid?: unknown;
  readonly invalid?: unknown;
  readonly substring?: unknown;
}

/** Checks a value with one filter operator: answers the problem, or undefined when the value satisfies the rule. */
export type ValidationOperatorCheck = (value: unknown, operand: unknown) => RuleViolation | undefined;

export const toOperandList = (operand: unknown): readonly unknown[] =>
  (Array.isArray(operand)
    ? operand
    : typeof operand === 'string'
      ? operand.split(',').map((part) => part.trim())
      : [operand]
  ).filter((one) => one !== NO_DYNAMIC_VALUE);

const isNull = (value: unknown) => value === null || value === undefined;
const isEmpty = (value: unknown) => isNull(value) || value === '' || (Array.isArray(value) && value.length === 0);
/** Whether the operand of an operator such as `_null` is on; stored rules have booleans, texts and numbers. */
export const isOperandTrue = (operand: unknown) =>
  operand !== false && operand !== 'false' && operand !== 0 && operand !== '0';
export const toErrorOperand = (operand: unknown) => (operand === NO_DYNAMIC_VALUE ? null : operand);

/** A number in a rule equals the number and its text, so the error lists both. */
function toEqualProblem(operand: unknown): RuleViolation {
  const isNumber =
    typeof operand === 'number' ||
    (typeof operand === 'string' && operand.trim() !== '' && !Number.isNaN(Number(operand)));
  return isNumber
    ? { type: 'in', valid: [Number(operand), String(operand)] }
    : { type: 'eq', valid: toErrorOperand(operand) };
}

const createOrderCheck =
  (type: string, fits: (sign: number) => boolean): ValidationOperatorCheck =>
  (value, operand) => {
    const sign = compareValues(value, operand);
    return sign !== undefined && fits(sign) ? undefined : { type, valid: toErrorOperand(operand) };
  };

const lower = (text: string) => text.toLowerCase();
const keepCase = (text: string) => text;

/** Negated operators hold for null, the others do not. */
const createTextCheck =
  (
    type: string,
    fits: (value: string, part: string) => boolean,
    fold: (text: string) => string,
    negated: boolean,
  ): ValidationOperatorCheck =>
  (value, operand) => {
    const part = toComparableText(operand);
    const whole = toComparableText(value);
    const found = whole !== undefined && part !== undefined && fits(fold(whole), fold(part));
    const holds = negated ? part !== undefined && (isNull(value) || (whole !== undefined && !found)) : found;
    return holds ? undefined : { type, substring: toErrorOperand(operand) };
  };

const contains = (value: string, part: string) => value.includes(part);
const starts = (value: string, part: string) => value.startsWith(part);
const ends = (value: string, part: string) => value.endsWith(part);

const isAtLeast = createOrderCheck('gte', (sign) => sign >= 0);
const isAtMost = createOrderCheck('lte', (sign) => sign <= 0);

const createPresenceCheck =
  (type: string, opposite: string, requested: (value: unknown) => boolean): ValidationOperatorCheck =>
  (value, operand) => {
    const on = isOperandTrue(operand);
    return requested(value) === on ? undefined : { type: on ? type : opposite };
  };

/** The checks of all operators of validations. */
export const VALIDATION_OPERATOR_CHECKS: ReadonlyMap<string, ValidationOperatorCheck> = new Map<
  string,
  ValidationOperatorCheck
>([
  ['_eq', (value, operand) => (isSameValue(value, operand) ? undefined : toEqualProblem(operand))],
  [
    '_neq',
    (value, operand) =>
      isSameValue(value, operand) || operand === NO_DYNAMIC_VALUE
        ? { type: 'neq', invalid: toErrorOperand(operand) }
        : undefined,
  ],
  [
    '_ieq',
    (value, operand) => (isSameFolded(value, operand) ? undefined : { type: 'eq', valid: toErrorOperand(operand) }),
  ],
  [
    '_nieq',
    (value, operand) =>
      isSameFolded(value, operand) || operand === NO_DYNAMIC_VALUE
        ? { type: 'neq', invalid: toErrorOperand(operand) }
        : undefined,
  ],
  ['_lt', createOrderCheck('lt', (sign) => sign < 0)],
  ['_lte', isAtMost],
  ['_gt', createOrderCheck('gt', (sign) => sign > 0)],
  ['_gte', isAtLeast],
  [
    '_between',
    (value, operand) => isAtLeast(value, toOperandList(operand)[0]) ?? isAtMost(value, toOperandList(operand)[1]),
  ],
  [
    '_nbetween',
    (value, operand) => {
      const [from, to] = toOperandList(operand);
      const inside = !isAtLeast(value, from) && !isAtMost(value, to);
      return inside || from === undefined || to === undefined ? { type: 'nin', invalid: [from, to] } : undefined;
    },
  ],
  [
    '_in',
    (value, operand) =>
      toOperandList(operand).some((one) => isSameValue(value, one))
        ? undefined
        : { type: 'in', valid: toOperandList(operand) },
  ],
  [
    '_nin',
    (value, operand) =>
      toOperandList(operand).some((one) => isSameValue(value, one))
        ? { type: 'nin', invalid: toOperandList(operand) }
        : undefined,
  ],
  ['_null', createPresenceCheck('null', 'nnull', isNull)],
  ['_nnull', createPresenceCheck('nnull', 'null', (value) => !isNull(value))],
  ['_empty', createPresenceCheck('empty', 'nempty', isEmpty)],
  ['_nempty', createPresenceCheck('nempty', 'empty', (value) => !isEmpty(value))],
  ['_contains', createTextCheck('contains', contains, keepCase, false)],
  ['_ncontains', createTextCheck('ncontains', contains, keepCase, true)],
  ['_icontains', createTextCheck('icontains', contains, lower, false)],
  ['_nicontains', createTextCheck('nicontains', contains, lower, true)],
  ['_starts_with', createTextCheck('starts_with', starts, keepCase, false)],
  ['_nstarts_with', createTextCheck('nstarts_with', starts, keepCase, true)],
  ['_istarts_with', createTextCheck('istarts_with', starts, lower, false)],
  ['_nistarts_with', createTextCheck('nistarts_with', starts, lower, true)],
  ['_ends_with', createTextCheck('ends_with', ends, keepCase, false)],
  ['_nends_with', createTextCheck('nends_with', ends, keepCase, true)],
  ['_iends_with', createTextCheck('iends_with', ends, lower, false)],
  ['_niends_with', createTextCheck('niends_with', ends, lower, true)],
  ['_regex', (value, operand) => (matchesPattern(value, operand) ? undefined : { type: 'regex', invalid: value })],
]);

function isSameFolded(value: unknown, operand: unknown): boolean {
  const [a, b] = [toComparableText(value), toComparableText(operand)];
  return a !== undefined && b !== undefined ? lower(a) === lower(b) : isSameValue(value, operand);
}

/** Takes expressions with and without slashes. No value matches a malformed expression or one that takes too long. */
function matchesPattern(value: unknown, operand: unknown): boolean {
  const whole = toComparableText(value);
  const source = toComparableText(operand);
  if (whole === undefined || source === undefined) return false;
  try {
    return matchRegularExpressionWithTimeout(parseRegularExpression(source), whole) === true;
  } catch {
    return false;
  }
}
