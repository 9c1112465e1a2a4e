import type { Collection, Field } from '../../schema/contract.ts';
import type { DynamicValue, DynamicValuePath, DynamicValuePathStep, FilterOperand } from '../contract.ts';
import { type CurrentUserOrRoleValue, isCallerDynamicValue } from '../current-user-or-role.ts';
import { isSortableUnknownTypeField } from '../element-field.ts';
import { type CompilationState, fieldColumnSql, type RuntimeParameter } from './compilation-state.ts';
import { joinConditionsWithAnd, parenthesized, whereClause } from './conjunction.ts';
import { fieldReferenceSql } from './field-use.ts';
import { toManyJoin } from './joins.ts';
import { manyToOneJoin } from './many-to-one-join.ts';

/** For `$CURRENT_USER` and `$CURRENT_ROLE`, the condition that the caller has a value; empty for other operands. */
export const callerValueNotNullSql = (
  statement: CompilationState,
  field: Field,
  value: FilterOperand,
): readonly string[] =>
  isCallerDynamicValue(value)
    ? [
        `${value.path?.isMultiValued ? callerIdSql(statement, value) : dynamicValueSql(statement, value, sqlTypeOf(field, null))} is not null`,
      ]
    : [];

/** The right side of a comparison: a parameter, or the SQL of a dynamic value. */
export function filterOperandSql(statement: CompilationState, field: Field, value: FilterOperand): string {
  if (field.type.startsWith('geometry')) return geometrySql(statement, value);
  if (typeof value === 'object' && value !== null) return dynamicValueSql(statement, value, sqlTypeOf(field, null));
  return statement.param(value, sqlTypeOf(field, value));
}

/** A list of operands as SQL of an array; `exact` is the type of its elements when it is compared with an array column. */
export function operandArraySql(
  statement: CompilationState,
  field: Field,
  values: readonly FilterOperand[],
  exact?: string,
): string {
  const plain = values.filter((value) => typeof value !== 'object');
  if (plain.length === values.length)
    return statement.param(values, `${exact ?? sqlTypeOf(field, widestValue(values))}[]`);
  const [only] = values;
  const type = exact ?? sqlTypeOf(field, null);
  if (isPlaceholderList(only)) return dynamicValueSql(statement, only, `${type}[]`);
  // In a list of operands with a dynamic value or null, each entry is a parameter of its own.
  const lists = values
    .filter(hasMultiValuedPath)
    .map((value) => `array(${pathSql(statement, value)})${castPathSql(value, type, '[]')}`);
  const rest = values
    .filter((value) => !hasMultiValuedPath(value))
    .map((value) => (exact ? typedValueSql(statement, exact, value) : filterOperandSql(statement, field, value)));
  return [...(rest.length > 0 ? [`array[${rest.join(', ')}]`] : []), ...lists].join(' || ');
}

/** SQL of an operand, cast to the PostgreSQL type `type`. */
export const typedValueSql = (statement: CompilationState, type: string, value: FilterOperand): string =>
  typeof value === 'object' && value !== null ? dynamicValueSql(statement, value, type) : statement.param(value, type);

const isPlaceholderList = (
  value: FilterOperand | undefined,
): value is Extract<DynamicValue, { dynamic: 'placeholder' }> =>
  typeof value === 'object' && value !== null && value.dynamic === 'placeholder' && value.list === true;

export const hasMultiValuedPath = (value: FilterOperand): value is CurrentUserOrRoleValue =>
  isCallerDynamicValue(value) && value.path?.isMultiValued === true;

const widestValue = (values: readonly FilterOperand[]): FilterOperand =>
  values.find((value) => !isInt8(value)) ?? values[0] ?? null;

const isInt8 = (value: FilterOperand): boolean => {
  if (typeof value !== 'string' || !/^[+-]?\d{1,19}$/.test(value)) return false;
  const number = BigInt(value);
  return number >= -9_223_372_036_854_775_808n && number <= 9_223_372_036_854_775_807n;
};

/**
 * The type a parameter is cast to. Whole numbers compare as int8, which every integer index supports. Larger numbers and fractions
 * compare as numeric, so that they find no row instead of an error.
 */
function sqlTypeOf(field: Field, value: FilterOperand): string {
  switch (field.type) {
    case 'integer':
    case 'bigInteger':
      return value === null || isInt8(value) ? 'int8' : 'numeric';
    case 'decimal':
      return 'numeric';
    case 'float':
      return field.column?.dataType === 'real' ? 'real' : 'float8';
    case 'boolean':
      return 'boolean';
    case 'uuid':
      return 'uuid';
    case 'date':
      return 'date';
    case 'dateTime':
      return 'timestamp';
    case 'timestamp':
      return 'timestamptz';
    case 'time':
      return field.column?.sqlType ?? 'time';
    case 'binary':
      return 'bytea';
    default:
      return isComparedAsItself(field) ? (field.column?.sqlType ?? 'text') : 'text';
  }
}

/** Whether the field is compared in the type of its column: enums, citext and ordered types of PostgreSQL. */
const isComparedAsItself = (field: Field): boolean =>
  field.column?.enumValues != null ||
  field.column?.sqlType.includes('citext') === true ||
  isSortableUnknownTypeField(field);

export function dynamicValueSql(statement: CompilationState, value: DynamicValue, type: string): string {
  if (!isCallerDynamicValue(value) || !value.path)
    return statement.param({ runtimeValue: value } satisfies RuntimeParameter, type);
  return `(${pathSql(statement, value)})${castPathSql(value, type)}`;
}

/**
 * Casts the values of a `$CURRENT_USER` path through text, since not every type has a cast to every other one. A value that does
 * not fit is INVALID_QUERY at run time.
 */
function castPathSql({ path }: CurrentUserOrRoleValue, type: string, list = ''): string {
  const { field } = ((path as DynamicValuePath).steps.at(-1) as DynamicValuePathStep).use;
  const same = !field.column?.array && sqlTypeOf(field, null) === type;
  return `${same ? '' : `::text${list}`}::${type}${list}`;
}

const callerIdSql = (statement: CompilationState, { dynamic }: CurrentUserOrRoleValue): string =>
  statement.param({ runtimeValue: { dynamic } } satisfies RuntimeParameter, 'uuid');

/** A sub-select of the values that a path such as `$CURRENT_USER.company.name` leads to. */
function pathSql(statement: CompilationState, value: CurrentUserOrRoleValue): string {
  const { start, rule, steps: path } = value.path as DynamicValuePath;
  let alias = statement.alias();
  const key = start.fields.get(start.primary ?? 'id') as Field;
  const conditions = [
    `${fieldColumnSql(alias, key)} = ${callerIdSql(statement, value)}`,
    rule && statement.where(alias, rule),
  ];
  let from = `${statement.table(start.table)} ${alias}`;
  for (const step of path.slice(0, -1)) {
    const to = step.to as Collection;
    const joined = statement.alias();
    const link =
      toManyJoin(statement, step.use, to)?.(joined, alias) ?? manyToOneJoin(statement, joined, to, alias, step.use);
    const when = step.use.field.column ? undefined : step.use.when && statement.where(alias, step.use.when);
    const on = [link, when, step.rule && statement.where(joined, step.rule)].map(parenthesized);
    from += ` join ${statement.table(to.table)} ${joined} on ${joinConditionsWithAnd(on)}`;
    alias = joined;
  }
  const last = path.at(-1) as DynamicValuePathStep;
  return `select ${fieldReferenceSql(statement, alias, last.use)} from ${from}${whereClause(conditions.map(parenthesized))}`;
}

export const geometrySql = (statement: CompilationState, value: FilterOperand): string =>
  `ST_SetSRID(ST_GeomFromGeoJSON(${
    typeof value === 'object' && value !== null
      ? dynamicValueSql(statement, value, 'text')
      : statement.param(value, 'text')
  }), 4326)`;
