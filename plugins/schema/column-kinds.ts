import type { Column, Field } from './contract.ts';

/** Whether the column is a `tsvector`, which repeats the words of other columns, so `*` of a query leaves it out. */
export const isSearchVector = ({ column }: Pick<Field, 'column'>): boolean => column?.dataType === 'tsvector';

/** Whether the column is a range or a multirange, whose `element` is the type of the bounds. */
export const isRangeColumn = (column: Column | null): column is RangeColumn =>
  column?.element !== undefined && !column.array;

type RangeColumn = Column & { readonly element: NonNullable<Column['element']> };

/** Whether only the database writes the column: a generated column, or an identity column `generated always`. */
export const isDatabaseGenerated = (column: Column): boolean => column.generated || column.identityAlways;
