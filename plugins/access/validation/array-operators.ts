import { isSameValue, NO_DYNAMIC_VALUE } from './compare.ts';
import { toErrorOperand, toOperandList, type ValidationOperatorCheck } from './operators.ts';

/** The elements in the value of an array column; null has none. */
const elementsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const includesElement = (value: unknown, operand: unknown): boolean =>
  elementsOf(value).some((one) => isSameValue(one, operand));

const isSameList = (value: unknown, operand: unknown): boolean => {
  const list = toOperandList(operand);
  return Array.isArray(value) && value.length === list.length && value.every((one, at) => isSameElement(one, list[at]));
};
const isSameElement = (one: unknown, other: unknown): boolean =>
  (one === null && other === null) || isSameValue(one, other);

/** Whether a dynamic value of the operand has no value: then negations and `_has_all` must not hold. */
const hasNoValue = (operand: unknown): boolean =>
  operand === NO_DYNAMIC_VALUE || (Array.isArray(operand) && operand.includes(NO_DYNAMIC_VALUE));

const toReportedOperand = (operand: unknown): unknown =>
  Array.isArray(operand) ? operand.map(toErrorOperand) : toErrorOperand(operand);

const containsAny: ValidationOperatorCheck = (value, operand) =>
  toOperandList(operand).some((one) => includesElement(value, one))
    ? undefined
    : { type: 'in', valid: toOperandList(operand) };
const containsNone: ValidationOperatorCheck = (value, operand) =>
  hasNoValue(operand) || toOperandList(operand).some((one) => includesElement(value, one))
    ? { type: 'nin', invalid: toOperandList(operand) }
    : undefined;

/** Checks of the filter operators that differ on array columns, where they compare elements or the whole list. */
export const ARRAY_VALIDATION_OPERATOR_CHECKS: ReadonlyMap<string, ValidationOperatorCheck> = new Map<
  string,
  ValidationOperatorCheck
>([
  [
    '_eq',
    (value, operand) => (isSameList(value, operand) ? undefined : { type: 'eq', valid: toReportedOperand(operand) }),
  ],
  [
    '_neq',
    (value, operand) =>
      hasNoValue(operand) || isSameList(value, operand)
        ? { type: 'neq', invalid: toReportedOperand(operand) }
        : undefined,
  ],
  ['_in', containsAny],
  ['_nin', containsNone],
  ['_has_any', containsAny],
  [
    '_has_all',
    (value, operand) =>
      !hasNoValue(operand) && Array.isArray(value) && toOperandList(operand).every((one) => includesElement(value, one))
        ? undefined
        : { type: 'contains', substring: toReportedOperand(operand) },
  ],
  [
    '_contains',
    (value, operand) =>
      includesElement(value, operand) ? undefined : { type: 'contains', substring: toReportedOperand(operand) },
  ],
  [
    '_ncontains',
    (value, operand) =>
      hasNoValue(operand) || includesElement(value, operand)
        ? { type: 'ncontains', substring: toReportedOperand(operand) }
        : undefined,
  ],
]);
