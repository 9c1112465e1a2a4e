/** Double-quoted, with quotes doubled: for names that come from the schema snapshot, never from input. */
export const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Text as an SQL literal: for names from the schema snapshot, and for DDL, which takes no parameters. */
export function literal(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  // Backslashes mean the same under every setting of standard_conforming_strings only in this form.
  return text.includes('\\') ? ` e${quoted.replaceAll('\\', '\\\\')}` : quoted;
}

/** A lost connection and a statement that took too long as SERVICE_UNAVAILABLE; any other error as it is. */
export { asUnavailable } from './connection-errors.ts';
/** Whose connections of the pool a statement takes that reads or writes a collection for a caller. */
export { shareOf } from './pool-share.ts';
/** For test runs: sees every statement before it runs. */
export { type ObservedStatement, onStatement } from './statement-observer.ts';
