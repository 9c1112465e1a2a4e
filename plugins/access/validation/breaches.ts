import { ARRAY_CHECKS } from './array-operators.ts';
import { CHECKS, type Complaint, isOn } from './operators.ts';
import { UNKNOWN } from './rows-as-keys.ts';

/** One broken rule; `path` leads from the row to the value. */
export interface Breach extends Complaint {
  readonly path: readonly string[];
}

interface Options {
  /** Would this field of the row be null if nothing is submitted for it? */
  readonly nullUnlessSubmitted?: (field: string) => boolean;
  /** Is this field of the row an array of PostgreSQL? */
  readonly isArray?: (field: string) => boolean;
  /** The key of the row that an object behind this field names, which has to keep the rule as well; undefined where there is none. */
  readonly keyOf?: (field: string, value: unknown) => unknown;
}

/** A value inside the row, or the fact that there is none. */
type Found = { readonly value: unknown; readonly isArray?: boolean; readonly key?: unknown } | undefined;
type Look = (field: string) => Found;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const inside =
  (row: Record<string, unknown>): Look =>
  (field) =>
    Object.hasOwn(row, field) && row[field] !== undefined ? { value: row[field] } : undefined;

/** A missing row counts as a row of nulls, as in queries. */
const nulls: Look = () => ({ value: null });

/**
 * Measures a row about to be written by a filter. A value that was not submitted keeps every rule but `_submitted`, and
 * `_nnull` and `_nempty` where the row would hold null. What cannot be understood counts as broken: a rule is a promise.
 */
export function breaches(rule: unknown, row: Record<string, unknown>, options: Options = {}): readonly Breach[] {
  const absent = options.nullUnlessSubmitted ?? (() => false);
  const own = inside(row);
  const look: Look = (field) => own(field) ?? (absent(field) ? { value: ABSENT_NULL } : undefined);
  const { isArray = () => false, keyOf = () => undefined } = options;
  return group(
    rule,
    (field) => {
      const found = look(field);
      return found && { ...found, isArray: isArray(field), key: keyOf(field, found.value) };
    },
    [],
  );
}

/** Does a whole record keep a filter, as far as that can be told without the rows it leads to? */
export const keeps = (filter: unknown, record: Record<string, unknown>): boolean =>
  breaches(filter, record).length === 0;

const ABSENT_NULL = Symbol('null because nothing was submitted');

function group(rule: unknown, look: Look, at: readonly string[]): readonly Breach[] {
  if (rule === null || rule === undefined) return [];
  if (!isObject(rule)) return [{ path: at, type: 'required' }];
  return Object.entries(rule).flatMap(([key, part]) => {
    if (key === '_and' || key === '_or') return logical(key, part, at, (one) => group(one, look, at));
    return condition(part, look(key), [...at, key]);
  });
}

/** One way out of several is enough; if there is none, all are told. */
function logical(
  key: '_and' | '_or',
  parts: unknown,
  at: readonly string[],
  measure: (part: unknown) => readonly Breach[],
): readonly Breach[] {
  if (!Array.isArray(parts)) return [{ path: at, type: 'required' }];
  const results = parts.map(measure);
  return key === '_or' && results.some((one) => one.length === 0) ? [] : results.flat();
}

function condition(rule: unknown, found: Found, path: readonly string[]): readonly Breach[] {
  if (!isObject(rule)) return condition({ _eq: rule }, found, path);
  const nested: Record<string, unknown> = {};
  const own = Object.entries(rule).flatMap(([key, operand]) => {
    if (key === '_and' || key === '_or') return logical(key, operand, path, (one) => condition(one, found, path));
    if (key === '_some' || key === '_none') return quantified(key, operand, found, path);
    if (key.startsWith('_')) return tested(key, operand, found, path);
    nested[key] = operand;
    return [];
  });
  return Object.keys(nested).length > 0 ? [...own, ...within(nested, found, path)] : own;
}

function tested(operator: string, operand: unknown, found: Found, path: readonly string[]): readonly Breach[] {
  if (operator === '_submitted') {
    const missing = found === undefined || found.value === ABSENT_NULL;
    return missing && operand !== false && operand !== 'false' ? [{ path, type: 'required' }] : [];
  }
  const check = (found?.isArray ? ARRAY_CHECKS.get(operator) : undefined) ?? CHECKS.get(operator);
  if (!check) return [{ path, type: operator.slice(1) }];
  if (found === undefined) return [];
  if (found.value === UNKNOWN) return forbidsNull(operator, operand) ? [] : [{ path, type: operator.slice(1) }];
  if (found.value === ABSENT_NULL && !forbidsNull(operator, operand)) return [];
  const complaint =
    check(found.value === ABSENT_NULL ? null : found.value, operand) ??
    (found.key === undefined ? undefined : check(found.key, operand));
  return complaint ? [{ path, ...complaint }] : [];
}

/** `_null: false` is `_nnull: true`. */
const forbidsNull = (operator: string, operand: unknown): boolean =>
  ['_nnull', '_nempty'].includes(operator) || (['_null', '_empty'].includes(operator) && !isOn(operand));

/** A rule about the row behind a relation, or about members of a JSON value. A bare key says nothing of its row. */
function within(rule: Record<string, unknown>, found: Found, path: readonly string[]): readonly Breach[] {
  if (found === undefined || found.value === ABSENT_NULL) return [];
  if (found.value === null) return group(rule, nulls, path);
  if (Array.isArray(found.value)) return quantified('_some', rule, found, path);
  return isObject(found.value) ? group(rule, inside(found.value), path) : [{ path, type: 'required' }];
}

function quantified(key: '_some' | '_none', rule: unknown, found: Found, path: readonly string[]): readonly Breach[] {
  if (found === undefined || found.value === ABSENT_NULL) return [];
  if (!Array.isArray(found.value)) return [{ path, type: 'required' }];
  const results = found.value.map((one) =>
    isObject(one) ? group(rule, inside(one), path) : [{ path, type: 'required' }],
  );
  if (key === '_some')
    return results.some((one) => one.length === 0) ? [] : (results[0] ?? [{ path, type: 'required' }]);
  // A bare key may lead to any row, so it cannot count as "none of them".
  const kept = found.value.every((one, index) => isObject(one) && (results[index]?.length ?? 0) > 0);
  return kept ? [] : [{ path, type: 'required' }];
}
