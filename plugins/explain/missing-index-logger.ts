import type { Log } from '#kernel';
import type { SchemaOverview } from '../schema/contract.ts';
import { findMissingForeignKeyIndexes } from './missing-indexes.ts';

/** Logs each foreign key without an index once, and again after its index was dropped. */
export function createMissingIndexLogger(log: Log): (schema: SchemaOverview) => void {
  let reported: ReadonlySet<string> = new Set();
  return (schema) => {
    const now = new Set<string>();
    for (const { collection, field, related, statement } of findMissingForeignKeyIndexes(schema)) {
      const name = `${collection}.${field}`;
      now.add(name);
      if (!reported.has(name))
        log.warn({ collection, field, related, remedy: statement }, `the foreign key ${name} has no index`);
    }
    reported = now;
  };
}
