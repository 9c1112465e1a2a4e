import type { FieldType } from '../../schema/contract.ts';
import { isRange } from '../../schema/library.ts';
import type { FieldUse, Operator } from '../contract.ts';

const NULLS = ['_null', '_nnull'] as const;
const EMPTIES = ['_empty', '_nempty'] as const;
const EQUAL = ['_eq', '_neq'] as const;
const ORDER = ['_lt', '_lte', '_gt', '_gte', '_between', '_nbetween'] as const;
const MEMBER = ['_in', '_nin'] as const;
// biome-ignore format: a table by kind
const TEXT = [
  '_ieq', '_nieq', '_contains', '_ncontains', '_icontains', '_nicontains', '_starts_with', '_nstarts_with',
  '_istarts_with', '_nistarts_with', '_ends_with', '_nends_with', '_iends_with', '_niends_with',
] as const;
const SPACE = ['_intersects', '_nintersects', '_intersects_bbox', '_nintersects_bbox'] as const;

const set = (...groups: readonly (readonly Operator[])[]): ReadonlySet<Operator> => new Set(groups.flat());

const textual = set(EQUAL, TEXT, MEMBER, NULLS, EMPTIES);
const ordered = set(EQUAL, ORDER, MEMBER, NULLS);
const dated = set(EQUAL, ORDER, MEMBER, NULLS, EMPTIES);
const masked = set(NULLS, EMPTIES);
const geometry = set(EQUAL, SPACE, NULLS);
const keyed = set(EQUAL, MEMBER, NULLS);
const loose = set(EQUAL, ORDER, MEMBER, NULLS, EMPTIES, TEXT);
const range = set(EQUAL, ORDER, MEMBER, NULLS, EMPTIES, ['_contains', '_ncontains', '_intersects', '_nintersects']);

/** Of arrays of PostgreSQL: `_eq` compares the whole list, `_contains`, `_in` and `_has_*` speak of its elements. */
export const ARRAY_OPERATORS = set(EQUAL, MEMBER, NULLS, EMPTIES, ['_contains', '_ncontains', '_has_any', '_has_all']);

/** Which operators fit (conventions, "Operators by field type"); concealed fields tell only null and empty. */
export function operatorsOf({ field, fn }: FieldUse): ReadonlySet<Operator> {
  if (fn) return operatorsFor('integer');
  if (field.parts) return keyed;
  if (field.concealed) return masked;
  if (field.column?.array) return ARRAY_OPERATORS;
  return isRange(field.column) ? range : operatorsFor(field.type);
}

export function operatorsFor(type: FieldType): ReadonlySet<Operator> {
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
      return set(EQUAL, NULLS);
    case 'uuid':
      return set(EQUAL, MEMBER, NULLS);
    case 'hash':
      return masked;
    case 'json':
    case 'alias':
      return set(NULLS);
    case 'unknown':
      return loose;
    default:
      return geometry;
  }
}
