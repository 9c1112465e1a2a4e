import { NOBODY, same } from './compare.ts';
import { type Check, listOf, shown } from './operators.ts';

/** Null is no array: it holds no element, and is outside of every list. */
const elementsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const holds = (value: unknown, operand: unknown): boolean => elementsOf(value).some((one) => same(one, operand));

const isSameList = (value: unknown, operand: unknown): boolean => {
  const list = listOf(operand);
  return Array.isArray(value) && value.length === list.length && value.every((one, at) => isSame(one, list[at]));
};
const isSame = (one: unknown, other: unknown): boolean => (one === null && other === null) || same(one, other);

/** Compares with nothing: what a negation, or a list that has to be there whole, must not take for true. */
const isNobody = (operand: unknown): boolean =>
  operand === NOBODY || (Array.isArray(operand) && operand.includes(NOBODY));

const visible = (operand: unknown): unknown => (Array.isArray(operand) ? operand.map(shown) : shown(operand));

const any: Check = (value, operand) =>
  listOf(operand).some((one) => holds(value, one)) ? undefined : { type: 'in', valid: listOf(operand) };
const none: Check = (value, operand) =>
  isNobody(operand) || listOf(operand).some((one) => holds(value, one))
    ? { type: 'nin', invalid: listOf(operand) }
    : undefined;

/** Operators that mean something else for arrays of PostgreSQL: they speak of elements, or of the whole list. */
export const ARRAY_CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['_eq', (value, operand) => (isSameList(value, operand) ? undefined : { type: 'eq', valid: visible(operand) })],
  [
    '_neq',
    (value, operand) =>
      isNobody(operand) || isSameList(value, operand) ? { type: 'neq', invalid: visible(operand) } : undefined,
  ],
  ['_in', any],
  ['_nin', none],
  ['_has_any', any],
  [
    '_has_all',
    (value, operand) =>
      !isNobody(operand) && Array.isArray(value) && listOf(operand).every((one) => holds(value, one))
        ? undefined
        : { type: 'contains', substring: visible(operand) },
  ],
  [
    '_contains',
    (value, operand) => (holds(value, operand) ? undefined : { type: 'contains', substring: visible(operand) }),
  ],
  [
    '_ncontains',
    (value, operand) =>
      isNobody(operand) || holds(value, operand) ? { type: 'ncontains', substring: visible(operand) } : undefined,
  ],
]);
