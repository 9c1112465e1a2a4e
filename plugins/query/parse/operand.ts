import type { DynamicValue, FieldReference, FilterOperand, FilterOperator } from '../contract.ts';
import { isCallerDynamicValue } from '../current-user-or-role.ts';
import { OperandPlaceholder } from '../placeholder.ts';
import type { BoundPlaceholderValue } from '../tree.ts';
import { parseDynamicValue } from './dynamic-value.ts';
import { isNullOperand, type OperandType, operandType, parseBooleanOperand, parseLiteral } from './literal.ts';
import type { QueryParseContext } from './parse-context.ts';
import { createInvalidQueryFailure, isObject, type QueryErrorPath } from './raw-values.ts';

export { isNullOperand } from './literal.ts';

const LISTS: readonly FilterOperator[] = ['_in', '_nin', '_between', '_nbetween', '_has_any', '_has_all'];
/** Operators that compare a whole array. */
const WHOLE_ARRAY: readonly FilterOperator[] = ['_eq', '_neq'];
const FLAGS: readonly FilterOperator[] = ['_null', '_nnull', '_empty', '_nempty'];
/** Operators that accept a path with several values. */
const TAKING_SEVERAL: readonly FilterOperator[] = ['_in', '_nin', '_has_any', '_has_all'];

/** Parses the right side of a comparison by the type of the left side; null when the parser leaves the condition out. */
export function parseOperands(
  context: QueryParseContext,
  use: FieldReference,
  operator: FilterOperator,
  raw: unknown,
  path: QueryErrorPath,
): readonly FilterOperand[] | null {
  if (FLAGS.includes(operator)) return [parseBooleanOperand(raw, path)];
  const as = operandType(use, operator);
  const isArray = !use.fn && use.field.column?.array === true;
  const isWhole = isArray && WHOLE_ARRAY.includes(operator);
  if (isWhole || LISTS.includes(operator)) {
    const bind = listBinder(as, isWhole, path);
    if (raw instanceof OperandPlaceholder && !operator.endsWith('between'))
      return [parsePlaceholder(context, raw, bind, true)];
    const list = parseOperandList(as, raw, isWhole, path);
    if (operator.endsWith('between') && list.length !== 2) {
      if (context.strict) throw createInvalidQueryFailure('must be two values', path);
      return null;
    }
    return list.map((entry, at) => parseOperand(context, as, entry, { operator, isWhole }, [...path, at]));
  }
  if (raw === '' && !isArray) throw createInvalidQueryFailure('an empty text compares with nothing; use _empty', path);
  return [parseOperand(context, as, raw, { operator, isWhole }, path)];
}

/** Parses a list of operands. Only a whole array may be compared with an empty list. */
function parseOperandList(
  { key }: OperandType,
  raw: unknown,
  isWhole: boolean,
  path: QueryErrorPath,
): readonly unknown[] {
  if (raw instanceof OperandPlaceholder) throw createInvalidQueryFailure('must be two values', path);
  const list = Array.isArray(raw)
    ? raw
    : isObject(raw)
      ? Object.values(raw)
      : typeof raw === 'string' && !key
        ? raw.split(',')
        : [raw];
  if ((list.length === 0 && !isWhole) || raw === '')
    throw createInvalidQueryFailure('must be a list with at least one value', path);
  return list;
}

interface Comparison {
  readonly operator: FilterOperator;
  readonly isWhole: boolean;
}

function parseOperand(
  context: QueryParseContext,
  as: OperandType,
  raw: unknown,
  { operator, isWhole }: Comparison,
  path: QueryErrorPath,
): FilterOperand {
  if (raw instanceof OperandPlaceholder) return parsePlaceholder(context, raw, valueBinder(as, isWhole, path));
  if (typeof raw === 'string' && raw.startsWith('$') && !as.type.startsWith('geometry')) {
    if (raw.includes('\0')) throw createInvalidQueryFailure('must not contain a NUL character', path);
    const dynamic: DynamicValue | undefined = parseDynamicValue(context, raw, path);
    if (dynamic && isCallerDynamicValue(dynamic) && dynamic.path?.isMultiValued && !TAKING_SEVERAL.includes(operator))
      throw createInvalidQueryFailure(`${raw.slice(0, 60)} may be several values: compare with _in`, path);
    if (dynamic) return dynamic;
  }
  return parseElementOrValue(as, isWhole, raw, path);
}

/**
 * The value is bound when the statement runs. The value of the first run is checked here, so that every run reports the same errors.
 */
function parsePlaceholder(
  context: QueryParseContext,
  { name, value }: OperandPlaceholder,
  bind: (value: unknown) => BoundPlaceholderValue,
  list?: true,
): FilterOperand {
  bind(value);
  const at = context.placeholders.push((values) => bind(values[name])) - 1;
  return { dynamic: 'placeholder', at, ...(list ? { list } : {}) };
}

// Binders live as long as cached statements, so they reference only the type of the field.
const valueBinder =
  (as: OperandType, isWhole: boolean, path: QueryErrorPath) =>
  (value: unknown): FilterOperand =>
    parseElementOrValue(as, isWhole, value, path);

const listBinder =
  (as: OperandType, isWhole: boolean, path: QueryErrorPath) =>
  (value: unknown): readonly FilterOperand[] =>
    parseOperandList(as, value, isWhole, path).map((one, at) => parseElementOrValue(as, isWhole, one, [...path, at]));

/** Null equals no element, so only a comparison of the whole array may contain it. */
function parseElementOrValue(as: OperandType, isWhole: boolean, raw: unknown, path: QueryErrorPath): FilterOperand {
  if (as.isElement && !isWhole && isNullOperand(raw))
    throw createInvalidQueryFailure('null is equal to no element', path);
  return parseLiteral(as, raw, path);
}
