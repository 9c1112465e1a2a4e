/** A double-quoted SQL name. For names of the schema snapshot, never for input. */
export const quoteIdentifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** A text as an SQL literal: for names of the schema snapshot, and for DDL, which takes no parameters. */
export function quoteLiteral(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  // The form e'…' reads backslashes in the same way under every setting of standard_conforming_strings.
  return text.includes('\\') ? ` e${quoted.replaceAll('\\', '\\\\')}` : quoted;
}

/** Turns a lost connection and a statement timeout into SERVICE_UNAVAILABLE; answers any other error unchanged. */
export { toUnavailableOnDatabaseOutage } from './connection-errors.ts';
/** The share of the pool for a statement that reads or writes a collection for a caller. */
export { createPoolShareHolder } from './pool-share.ts';
/** For test runs: observes every statement before it runs. */
export { type ObservedStatement, observeStatements } from './statement-observer.ts';
/** Whether a text has the form of a UUID. */
export { isUuid } from './uuid.ts';
/** The statement by which a process shows its version to others. */
export { renderVersionLockSql } from './version-locks.ts';
