/**
 * Whether PostgreSQL complains of a table, column, function or type that is not, or no longer, as a statement has it: the statement
 * was made before somebody changed the table, or the fault is in a program of the database's own.
 */
export const isOutdatedStatement = (error: unknown): boolean =>
  ['42P01', '42703', '42883', '42804'].includes((error as { code?: string } | null)?.code ?? '');
