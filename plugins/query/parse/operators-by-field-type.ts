import type { FieldType } from '../../schema/contract.ts';
import { isRangeColumn } from '../../schema/library.ts';
import type { FieldReference, FilterOperator } from '../contract.ts';

const NULL_TESTS = ['_null', '_nnull'] as const;
const EMPTY_TESTS = ['_empty', '_nempty'] as const;
const EQUAL = ['_eq', '_neq'] as const;
const ORDER = ['_lt', '_lte', '_gt', '_gte', '_between', '_nbetween'] as const;
const MEMBER = ['_in', '_nin'] as const;
// biome-ignore format: a table by kind
const TEXT = [
  '_ieq', '_nieq', '_contains', '_ncontains', '_icontains', '_nicontains', '_starts_with', '_nstarts_with',
  '_istarts_with', '_nistarts_with', '_ends_with', '_nends_with', '_iends_with', '_niends_with',
] as const;
const SPATIAL = ['_intersects', '_nintersects', '_intersects_bbox', '_nintersects_bbox'] as const;

const set = (...groups: readonly (readonly FilterOperator[])[]): ReadonlySet<FilterOperator> => new Set(groups.flat());

const textual = set(EQUAL, TEXT, MEMBER, NULL_TESTS, EMPTY_TESTS);
const ordered = set(EQUAL, ORDER, MEMBER, NULL_TESTS);
const dated = set(EQUAL, ORDER, MEMBER, NULL_TESTS, EMPTY_TESTS);
const presence = set(NULL_TESTS, EMPTY_TESTS);
const geometry = set(EQUAL, SPATIAL, NULL_TESTS);
const keyed = set(EQUAL, MEMBER, NULL_TESTS);
const comparable = set(EQUAL, ORDER, MEMBER, NULL_TESTS, EMPTY_TESTS, TEXT);
/** Operators of columns of ranges and multiranges: `_contains` and `_intersects` compare ranges. */
export const RANGE_OPERATORS = set(EQUAL, ORDER, MEMBER, NULL_TESTS, EMPTY_TESTS, [
  '_contains',
  '_ncontains',
  '_intersects',
  '_nintersects',
]);

/** Operators of array columns: `_eq` compares the whole list; `_contains`, `_in` and `_has_*` compare its elements. */
export const ARRAY_OPERATORS = set(EQUAL, MEMBER, NULL_TESTS, EMPTY_TESTS, [
  '_contains',
  '_ncontains',
  '_has_any',
  '_has_all',
]);

/**
 * The filter operators that fit a field or a function of it (conventions, "Operators by field type"); concealed fields have only
 * null and empty tests.
 */
export function filterOperatorsOfFieldReference({ field, fn }: FieldReference): ReadonlySet<FilterOperator> {
  if (fn) return filterOperatorsOfFieldType('integer');
  if (field.parts) return keyed;
  if (field.concealed) return presence;
  if (field.column?.array) return ARRAY_OPERATORS;
  return isRangeColumn(field.column) ? RANGE_OPERATORS : filterOperatorsOfFieldType(field.type);
}

export function filterOperatorsOfFieldType(type: FieldType): ReadonlySet<FilterOperator> {
  switch (type) {
    case 'string':
    case 'text':
    case 'csv':
    case 'binary':
      return textual;
    case 'integer':
    case 'bigInteger':
    case 'decimal':
    case 'float':
      return ordered;
    case 'date':
    case 'dateTime':
    case 'time':
    case 'timestamp':
      return dated;
    case 'boolean':
      return set(EQUAL, NULL_TESTS);
    case 'uuid':
      return set(EQUAL, MEMBER, NULL_TESTS);
    case 'hash':
      return presence;
    case 'json':
    case 'alias':
      return set(NULL_TESTS);
    case 'unknown':
      return comparable;
    default:
      return geometry;
  }
}
