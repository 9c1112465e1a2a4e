import type { Field } from '../schema/contract.ts';
import { isRange } from '../schema/library.ts';

/** Types without a field type of their own whose values PostgreSQL compares and orders as what they are, not as texts. */
// biome-ignore format: a list of names
const ORDERED: ReadonlySet<string> = new Set([
  'interval', 'inet', 'cidr', 'macaddr', 'macaddr8', 'money', 'bit', 'bit varying', 'oid', 'pg_lsn', 'xid8',
]);

/** Of the field type `unknown`: does a filter compare values of the column's own type, and may rows be sorted by it? */
export const hasOrder = ({ type, column }: Field): boolean =>
  type === 'unknown' && column !== null && !column.array && (ORDERED.has(column.dataType) || isRange(column));

/** What is inside a value of an array or a range, as a field: operands are checked and compared by it. */
export function elementField(field: Field): Field {
  const { column } = field;
  if (!column?.element) throw new Error(`${field.name} is neither an array nor a range`);
  const { type, ...types } = column.element;
  const { element: _element, ...rest } = column;
  return { ...field, type, column: { ...rest, ...types, array: false }, relation: null };
}
