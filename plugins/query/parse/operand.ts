import type { Dynamic, FieldUse, Operator, Value } from '../contract.ts';
import { Given } from '../given.ts';
import type { Bound } from '../tree.ts';
import { dynamicValue } from './dynamic.ts';
import { flag, isNull, type OperandType, operandType, plainValue } from './plain-value.ts';
import type { Scope } from './scope.ts';
import { invalid, isObject, type Path } from './shape.ts';

export { isNull } from './plain-value.ts';

const LISTS: readonly Operator[] = ['_in', '_nin', '_between', '_nbetween', '_has_any', '_has_all'];
/** Of arrays: the whole list is compared. */
const WHOLE: readonly Operator[] = ['_eq', '_neq'];
const FLAGS: readonly Operator[] = ['_null', '_nnull', '_empty', '_nempty'];
/** Those that a path with several values at its end may stand under. */
const SEVERAL: readonly Operator[] = ['_in', '_nin', '_has_any', '_has_all'];

/** The right side of a comparison, checked against the type of the left one. `null` = the predicate drops out. */
export function operands(
  scope: Scope,
  use: FieldUse,
  operator: Operator,
  raw: unknown,
  path: Path,
): readonly Value[] | null {
  if (FLAGS.includes(operator)) return [flag(raw, path)];
  const as = operandType(use, operator);
  const isArray = !use.fn && use.field.column?.array === true;
  const isWhole = isArray && WHOLE.includes(operator);
  if (isWhole || LISTS.includes(operator)) {
    const bind = boundList(as, isWhole, path);
    if (raw instanceof Given && !operator.endsWith('between')) return [given(scope, raw, bind, true)];
    const list = listOf(as, raw, isWhole, path);
    if (operator.endsWith('between') && list.length !== 2) {
      if (scope.strict) throw invalid('must be two values', path);
      return null;
    }
    return list.map((entry, at) => operand(scope, as, entry, { operator, isWhole }, [...path, at]));
  }
  if (raw === '' && !isArray) throw invalid('an empty text compares with nothing; use _empty', path);
  return [operand(scope, as, raw, { operator, isWhole }, path)];
}

/** Only as a whole an array may be compared with an empty list. */
function listOf({ key }: OperandType, raw: unknown, isWhole: boolean, path: Path): readonly unknown[] {
  if (raw instanceof Given) throw invalid('must be two values', path);
  const list = Array.isArray(raw)
    ? raw
    : isObject(raw)
      ? Object.values(raw)
      : typeof raw === 'string' && !key
        ? raw.split(',')
        : [raw];
  if ((list.length === 0 && !isWhole) || raw === '') throw invalid('must be a list with at least one value', path);
  return list;
}

interface Comparison {
  readonly operator: Operator;
  readonly isWhole: boolean;
}

function operand(scope: Scope, as: OperandType, raw: unknown, { operator, isWhole }: Comparison, path: Path): Value {
  if (raw instanceof Given) return given(scope, raw, boundValue(as, isWhole, path));
  if (typeof raw === 'string' && raw.startsWith('$') && !as.type.startsWith('geometry')) {
    if (raw.includes('\0')) throw invalid('must not contain a NUL character', path);
    const dynamic: Dynamic | undefined = dynamicValue(scope, raw, path);
    if (dynamic && 'via' in dynamic && dynamic.via?.several && !SEVERAL.includes(operator))
      throw invalid(`${raw.slice(0, 60)} may be several values: compare with _in`, path);
    if (dynamic) return dynamic;
  }
  return checked(as, isWhole, raw, path);
}

/**
 * Known when the statement runs. The value it is compiled for is checked here, so that it makes no difference which of several
 * values is the first, and all others when they come.
 */
function given(scope: Scope, { name, value }: Given, bind: (value: unknown) => Bound, list?: true): Value {
  bind(value);
  const at = scope.given.push((values) => bind(values[name])) - 1;
  return { dynamic: 'given', at, ...(list ? { list } : {}) };
}

// Remembered with statements, so these hold on to nothing but the field's type.
const boundValue =
  (as: OperandType, isWhole: boolean, path: Path) =>
  (value: unknown): Value =>
    checked(as, isWhole, value, path);

const boundList =
  (as: OperandType, isWhole: boolean, path: Path) =>
  (value: unknown): readonly Value[] =>
    listOf(as, value, isWhole, path).map((one, at) => checked(as, isWhole, one, [...path, at]));

/** Null is equal to no element, so only a comparison of the whole array may have it. */
function checked(as: OperandType, isWhole: boolean, raw: unknown, path: Path): Value {
  if (as.isElement && !isWhole && isNull(raw)) throw invalid('null is equal to no element', path);
  return plainValue(as, raw, path);
}
