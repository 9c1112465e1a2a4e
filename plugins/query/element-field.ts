import type { Field } from '../schema/contract.ts';
import { isRangeColumn } from '../schema/library.ts';

/** PostgreSQL types of `unknown` fields that are ordered by value, beside ranges; all others are compared as texts. */
// biome-ignore format: a list of names
const ORDERED: ReadonlySet<string> = new Set([
  'interval', 'inet', 'cidr', 'macaddr', 'macaddr8', 'money', 'bit', 'bit varying', 'oid', 'pg_lsn', 'xid8',
]);

/** Whether a field of the type `unknown` is compared by the type of its column and can be sorted by. */
export const isSortableUnknownTypeField = ({ type, column }: Field): boolean =>
  type === 'unknown' && column !== null && !column.array && (ORDERED.has(column.dataType) || isRangeColumn(column));

/** A field that stands for the elements of an array or the bounds of a range: operands are checked and cast by its type. */
export function toElementOrBoundField(field: Field): Field {
  const { column } = field;
  if (!column?.element) throw new Error(`${field.name} is neither an array nor a range`);
  const { type, ...types } = column.element;
  const { element: _element, ...rest } = column;
  return { ...field, type, column: { ...rest, ...types, array: false }, relation: null };
}
