import type { Field, FieldType } from '../../schema/contract.ts';
import { isRangeColumn } from '../../schema/library.ts';
import type { ConditionTree, FilterOperand, FilterOperator } from '../contract.ts';
import { isSortableUnknownTypeField } from '../element-field.ts';
import { arrayFilterSql } from './array.ts';
import type { CompilationState, RuntimeParameter } from './compilation-state.ts';
import { fieldReferenceSql } from './field-use.ts';
import { jsonbSql } from './function.ts';
import {
  callerValueNotNullSql,
  dynamicValueSql,
  filterOperandSql,
  geometrySql,
  hasMultiValuedPath,
  operandArraySql,
} from './operand-sql.ts';
import { valueOutputSql } from './output.ts';
import { rangeFilterSql } from './range.ts';

const COMPARISONS: Partial<Readonly<Record<FilterOperator, string>>> = {
  _eq: '=',
  _neq: '<>',
  _lt: '<',
  _lte: '<=',
  _gt: '>',
  _gte: '>=',
};
const PATTERN = /^_(n?)(i?)(contains|starts_with|ends_with)$/;

type Test = Extract<ConditionTree, { kind: 'test' | 'inside' }>;

/** A field that stands for the result of a function or for a value inside a JSON column, which have no field of their own. */
const standInField = (field: Field, type: FieldType): Field => ({ ...field, type, column: null, concealed: false });

/** The field whose type decides how a test compares. */
export function comparisonField(test: Test): Field {
  const { field, fn } = test.use;
  if (test.kind === 'test') return fn ? standInField(field, 'integer') : field;
  return standInField(field, test.as === 'number' ? 'decimal' : test.as === 'boolean' ? 'boolean' : 'text');
}

/** Renders a `_json` test. A stored value of another JSON type than the operand counts as null. */
export function jsonTestSql(
  statement: CompilationState,
  alias: string,
  test: Extract<ConditionTree, { kind: 'inside' }>,
): string {
  const value = jsonbSql(test.use.field, fieldReferenceSql(statement, alias, test.use));
  const path = statement.param(test.path, 'text[]');
  const text = `(${value} #>> ${path})`;
  if (test.as === 'text') return filterTestSql(statement, text, test);
  const type = test.as === 'number' ? 'numeric' : 'boolean';
  return filterTestSql(
    statement,
    `case when jsonb_typeof(${value} #> ${path}) = '${test.as}' then ${text}::${type} end`,
    test,
  );
}

/** Renders one test of a filter: `left` compared with the operands. */
export function filterTestSql(statement: CompilationState, left: string, test: Test): string {
  const { operator, values } = test;
  const field = withComparableType(comparisonField(test), values);
  if (field.column?.array) return arrayFilterSql(statement, left, field, operator, values);
  const special = isRangeColumn(field.column) ? rangeFilterSql(statement, left, field, operator, values) : undefined;
  if (special) return special;
  const [first] = values;
  const comparison = COMPARISONS[operator];
  // PostGIS has no operator `<>`.
  if (operator === '_neq' && field.type.startsWith('geometry'))
    return `not (${filterTestSql(statement, left, { ...test, operator: '_eq' })})`;
  if (comparison)
    return `${comparableSql(left, field)} ${comparison} ${filterOperandSql(statement, field, first ?? null)}`;
  switch (operator) {
    case '_null':
    case '_nnull':
      return nullSql(left, field, (operator === '_null') === (first === true));
    case '_empty':
    case '_nempty': {
      const empty = isTextual(field.type) ? `coalesce(${emptyTextSql(left, field)}, '') = ''` : `${left} is null`;
      return (operator === '_empty') === (first === true) ? empty : `not (${empty})`;
    }
    case '_in':
      return `${comparableSql(left, field)} = any(${operandArraySql(statement, field, values)})`;
    case '_nin':
      return notInSql(statement, comparableSql(left, field), field, values);
    case '_between':
    case '_nbetween': {
      const range = `between ${filterOperandSql(statement, field, first ?? null)} and ${filterOperandSql(statement, field, values[1] ?? null)}`;
      if (operator === '_between') return `${comparableSql(left, field)} ${range}`;
      // PostgreSQL decides `not between` by one bound if the other is null, so a dynamic bound must have a value.
      return [
        `${comparableSql(left, field)} not ${range}`,
        ...values.flatMap((value) => callerValueNotNullSql(statement, field, value)),
      ].join(' and ');
    }
    case '_ieq':
    case '_nieq':
      return `lower(${textSourceSql(left, field)}::text) ${operator === '_ieq' ? '=' : '<>'} lower(${filterOperandSql(statement, standInField(field, 'text'), first ?? null)})`;
    case '_intersects':
    case '_nintersects':
      return `${operator === '_nintersects' ? 'not ' : ''}ST_Intersects(${left}, ${geometrySql(statement, first ?? null)})`;
    case '_intersects_bbox':
    case '_nintersects_bbox':
      return `${operator === '_nintersects_bbox' ? 'not ' : ''}(${left} && ${geometrySql(statement, first ?? null)})`;
  }
  const [, negated, insensitive, form] = PATTERN.exec(operator) ?? [];
  return patternSql(
    statement,
    textSourceSql(left, field),
    first ?? null,
    form ?? 'contains',
    Boolean(negated),
    Boolean(insensitive),
  );
}

/**
 * Renders `_nin`. `<> all` holds for an empty list, to which a path such as `$CURRENT_USER.teams.id` may lead. So with a path,
 * null and callers without a user or role are excluded explicitly.
 */
function notInSql(statement: CompilationState, left: string, field: Field, values: readonly FilterOperand[]): string {
  const outside = `${left} <> all(${operandArraySql(statement, field, values)})`;
  if (!values.some(hasMultiValuedPath)) return outside;
  return [
    `${left} is not null`,
    outside,
    ...values.flatMap((value) => callerValueNotNullSql(statement, field, value)),
  ].join(' and ');
}

/** Renders a `like` test. Wildcards in the operand are escaped, so that they match themselves. */
function patternSql(
  statement: CompilationState,
  left: string,
  value: FilterOperand,
  form: string,
  negated: boolean,
  insensitive: boolean,
) {
  const verb = `${negated ? 'not ' : ''}${insensitive ? 'ilike' : 'like'}`;
  const before = form === 'starts_with' ? '' : '%';
  const after = form === 'ends_with' ? '' : '%';
  const addWildcards = (text: unknown) => `${before}${escapeLike(String(text))}${after}`;
  if (typeof value === 'object' && value !== null) {
    if (value.dynamic === 'placeholder')
      return `${left}::text ${verb} ${statement.param({ runtimeValue: value, convert: addWildcards } satisfies RuntimeParameter, 'text')}`;
    const escaped = `regexp_replace(${dynamicValueSql(statement, value, 'text')}, '([\\\\%_])', '\\\\\\1', 'g')`;
    return `${left}::text ${verb} '${before}' || ${escaped} || '${after}'`;
  }
  return `${left}::text ${verb} ${statement.param(value === null ? null : addWildcards(value), 'text')}`;
}

export const escapeLike = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

const isTextual = (type: FieldType): boolean => ['string', 'text', 'csv', 'hash', 'unknown', 'binary'].includes(type);

/** An enum compared with a dynamic value is compared as text, since the value may not be one of the enum. */
const withComparableType = (field: Field, values: readonly FilterOperand[]): Field =>
  field.column?.enumValues && !field.column.array && values.some(isResolvedAtRuntime)
    ? standInField(field, 'unknown')
    : field;

const isResolvedAtRuntime = (value: FilterOperand): boolean =>
  typeof value === 'object' && value !== null && value.dynamic !== 'placeholder';

/** The left side in a type that the operand can be cast to: a text for types without an equality. */
const comparableSql = (left: string, field: Field): string =>
  field.type === 'unknown' && !isSortableUnknownTypeField(field) ? `${left}::text` : left;

/** The left side of text operators such as `_contains`, which cast it to text: base64 for `bytea`. */
const textSourceSql = (left: string, field: Field): string =>
  field.type === 'binary' ? valueOutputSql(left, field) : left;

/** The left side of `_empty`: a text that is empty exactly when the stored value is empty. */
function emptyTextSql(left: string, field: Field): string {
  if (field.type === 'binary') return `encode(${left}, 'hex')`;
  return field.column?.enumValues || field.type === 'unknown' ? `${left}::text` : left;
}

/** `is null` also holds for a composite value of nulls, so columns of types without an order use `is distinct from`. */
function nullSql(left: string, field: Field, isNull: boolean): string {
  if (field.type === 'unknown' && !isSortableUnknownTypeField(field))
    return `${left} is ${isNull ? 'not ' : ''}distinct from null`;
  return `${left} is ${isNull ? '' : 'not '}null`;
}
