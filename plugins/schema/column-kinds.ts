import type { Column, Field } from './contract.ts';

/** A column of search vectors (`tsvector`): an index of other columns, which `*` of a query leaves out. */
export const isSearchVector = ({ column }: Pick<Field, 'column'>): boolean => column?.dataType === 'tsvector';

/** Ranges and multiranges, whose `element` is the type of their bounds. */
export const isRange = (column: Column | null): column is RangeColumn => column?.element !== undefined && !column.array;

type RangeColumn = Column & { readonly element: NonNullable<Column['element']> };

/** The database alone makes its values: a generated column, or an identity column that is `generated always`. */
export const isMadeByDatabase = (column: Column): boolean => column.generated || column.identityAlways;
