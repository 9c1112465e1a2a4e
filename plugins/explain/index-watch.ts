import type { Log } from '#kernel';
import type { Overview } from '../schema/contract.ts';
import { missingIndexes } from './missing-indexes.ts';

/** Says each relation without an index once, and again when it had one meanwhile. */
export function createIndexWatch(log: Log): (overview: Overview) => void {
  let said: ReadonlySet<string> = new Set();
  return (overview) => {
    const now = new Set<string>();
    for (const { collection, field, related, statement } of missingIndexes(overview)) {
      const name = `${collection}.${field}`;
      now.add(name);
      if (!said.has(name))
        log.warn({ collection, field, related, remedy: statement }, `the foreign key ${name} has no index`);
    }
    said = now;
  };
}
