import { ARRAY_VALIDATION_OPERATOR_CHECKS } from './array-operators.ts';
import { UNKNOWN_UNTIL_WRITTEN } from './composite-foreign-keys.ts';
import { isOperandTrue, type RuleViolation, VALIDATION_OPERATOR_CHECKS } from './operators.ts';

/** One violated rule; `path` leads from the row to the value. */
export interface ValidationError extends RuleViolation {
  readonly path: readonly string[];
}

interface ValidationOptions {
  /** Whether the row has null in this field when the payload does not have it. Default: false. */
  readonly nullUnlessSubmitted?: (field: string) => boolean;
  /** Whether this field is an array column. Default: false. */
  readonly isArray?: (field: string) => boolean;
  /**
   * The key in the object that the payload has for a related row, which must satisfy the rule as well; undefined for other
   * values.
   */
  readonly keyOf?: (field: string, value: unknown) => unknown;
}

/** A value of the row; undefined when the row does not have it. */
type FoundValue = { readonly value: unknown; readonly isArray?: boolean; readonly key?: unknown } | undefined;
type FindValue = (field: string) => FoundValue;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const findIn =
  (row: Record<string, unknown>): FindValue =>
  (field) =>
    Object.hasOwn(row, field) && row[field] !== undefined ? { value: row[field] } : undefined;

/** Where a relation is null, all fields of the related row count as null, as in queries. */
const findNull: FindValue = () => ({ value: null });

/**
 * Validates a row against a filter before it is written. A missing value violates only `_submitted`, and `_nnull` and `_nempty` when the
 * row would have null. An unknown operator or a malformed rule counts as violated, so that a rule never has less effect than written.
 */
export function validateRow(
  rule: unknown,
  row: Record<string, unknown>,
  options: ValidationOptions = {},
): readonly ValidationError[] {
  const absent = options.nullUnlessSubmitted ?? (() => false);
  const own = findIn(row);
  const look: FindValue = (field) => own(field) ?? (absent(field) ? { value: ABSENT_NULL } : undefined);
  const { isArray = () => false, keyOf = () => undefined } = options;
  return validateObject(
    rule,
    (field) => {
      const found = look(field);
      return found && { ...found, isArray: isArray(field), key: keyOf(field, found.value) };
    },
    [],
  );
}

/** Whether a record matches a filter, as far as that can be decided without related rows. */
export const matchesFilter = (filter: unknown, record: Record<string, unknown>): boolean =>
  validateRow(filter, record).length === 0;

const ABSENT_NULL = Symbol('null because nothing was submitted');

function validateObject(rule: unknown, look: FindValue, at: readonly string[]): readonly ValidationError[] {
  if (rule === null || rule === undefined) return [];
  if (!isObject(rule)) return [{ path: at, type: 'required' }];
  return Object.entries(rule).flatMap(([key, part]) => {
    if (key === '_and' || key === '_or') return validateLogical(key, part, at, (one) => validateObject(one, look, at));
    return validateField(part, look(key), [...at, key]);
  });
}

/** One valid branch of `_or` is enough; otherwise the errors of all branches are reported. */
function validateLogical(
  key: '_and' | '_or',
  parts: unknown,
  at: readonly string[],
  measure: (part: unknown) => readonly ValidationError[],
): readonly ValidationError[] {
  if (!Array.isArray(parts)) return [{ path: at, type: 'required' }];
  const results = parts.map(measure);
  return key === '_or' && results.some((one) => one.length === 0) ? [] : results.flat();
}

function validateField(rule: unknown, found: FoundValue, path: readonly string[]): readonly ValidationError[] {
  if (!isObject(rule)) return validateField({ _eq: rule }, found, path);
  const nested: Record<string, unknown> = {};
  const own = Object.entries(rule).flatMap(([key, operand]) => {
    if (key === '_and' || key === '_or')
      return validateLogical(key, operand, path, (one) => validateField(one, found, path));
    if (key === '_some' || key === '_none') return validateQuantified(key, operand, found, path);
    if (key.startsWith('_')) return validateOperator(key, operand, found, path);
    nested[key] = operand;
    return [];
  });
  return Object.keys(nested).length > 0 ? [...own, ...validateNested(nested, found, path)] : own;
}

function validateOperator(
  operator: string,
  operand: unknown,
  found: FoundValue,
  path: readonly string[],
): readonly ValidationError[] {
  if (operator === '_submitted') {
    const missing = found === undefined || found.value === ABSENT_NULL;
    return missing && operand !== false && operand !== 'false' ? [{ path, type: 'required' }] : [];
  }
  const check =
    (found?.isArray ? ARRAY_VALIDATION_OPERATOR_CHECKS.get(operator) : undefined) ??
    VALIDATION_OPERATOR_CHECKS.get(operator);
  if (!check) return [{ path, type: operator.slice(1) }];
  if (found === undefined) return [];
  if (found.value === UNKNOWN_UNTIL_WRITTEN)
    return forbidsNull(operator, operand) ? [] : [{ path, type: operator.slice(1) }];
  if (found.value === ABSENT_NULL && !forbidsNull(operator, operand)) return [];
  const problem =
    check(found.value === ABSENT_NULL ? null : found.value, operand) ??
    (found.key === undefined ? undefined : check(found.key, operand));
  return problem ? [{ path, ...problem }] : [];
}

/** `_null: false` is `_nnull: true`. */
const forbidsNull = (operator: string, operand: unknown): boolean =>
  ['_nnull', '_nempty'].includes(operator) || (['_null', '_empty'].includes(operator) && !isOperandTrue(operand));

/**
 * Validates a rule on a related row or on members of a JSON value. A payload with only the key of the related row violates the
 * rule, since the values of that row are not known.
 */
function validateNested(
  rule: Record<string, unknown>,
  found: FoundValue,
  path: readonly string[],
): readonly ValidationError[] {
  if (found === undefined || found.value === ABSENT_NULL) return [];
  if (found.value === null) return validateObject(rule, findNull, path);
  if (Array.isArray(found.value)) return validateQuantified('_some', rule, found, path);
  return isObject(found.value) ? validateObject(rule, findIn(found.value), path) : [{ path, type: 'required' }];
}

function validateQuantified(
  key: '_some' | '_none',
  rule: unknown,
  found: FoundValue,
  path: readonly string[],
): readonly ValidationError[] {
  if (found === undefined || found.value === ABSENT_NULL) return [];
  if (!Array.isArray(found.value)) return [{ path, type: 'required' }];
  const results = found.value.map((one) =>
    isObject(one) ? validateObject(rule, findIn(one), path) : [{ path, type: 'required' }],
  );
  if (key === '_some')
    return results.some((one) => one.length === 0) ? [] : (results[0] ?? [{ path, type: 'required' }]);
  // The row of a bare key is not known, so a list with bare keys violates `_none`.
  const isNone = found.value.every((one, index) => isObject(one) && (results[index]?.length ?? 0) > 0);
  return isNone ? [] : [{ path, type: 'required' }];
}
