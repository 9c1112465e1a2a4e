/**
 * Whether PostgreSQL reports that a table, column, function or type of a statement does not exist or has another type:
 * the table changed after the statement was made, or a trigger or function of the database is at fault.
 */
export const isOutdatedStatementError = (error: unknown): boolean =>
  ['42P01', '42703', '42883', '42804'].includes((error as { code?: string } | null)?.code ?? '');

/** How often a statement is made whose tables change meanwhile. */
export const MAX_STATEMENT_ATTEMPTS = 3;
