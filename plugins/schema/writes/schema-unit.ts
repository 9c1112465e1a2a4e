import { SCHEMA_CHANNEL } from '../freshness/change-triggers.ts';
import { toFailure } from './database-error.ts';
import type { WriteDeps } from './deps.ts';

/** How long a change waits for a table that somebody else's open transaction uses. */
const LOCK_TIMEOUT = '5s';

/** Whoever writes items locks tables in an order of his own; where that crosses ours, PostgreSQL ends one of the two. */
const ATTEMPTS = 4;
const isDeadlock = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === '40P01';

/**
 * One unit of work of schema changes, alone in all processes. When it answers, and it was the outermost, this process
 * has the new schema snapshot and the others were told.
 */
export async function runSchemaUnit<T>(deps: WriteDeps, work: () => Promise<T>): Promise<T> {
  const nested = deps.inUnit();
  for (let attempt = 1; ; attempt++) {
    try {
      return await runOnce(deps, nested, work);
    } catch (error) {
      if (!isDeadlock(error)) throw toFailure(error);
      // The outermost unit is what has been rolled back, and what can be tried again.
      if (nested) throw error;
      if (attempt === ATTEMPTS) throw toFailure(error);
    }
  }
}

async function runOnce<T>({ db, cache, bus }: WriteDeps, nested: boolean, work: () => Promise<T>): Promise<T> {
  const uncommitted = cache.beginUncommittedChange();
  let result: T;
  try {
    result = await db.transaction(async () => {
      // First among the effects of this unit: those of listeners shall find the new schema snapshot.
      db.afterCommit(() => {
        uncommitted.end();
        cache.invalidate();
      });
      // What is gone from the schema is not to be read at another process once this one has answered.
      db.answerAfter(bus.confirmed);
      await db.query(`select pg_advisory_xact_lock(hashtext('platform_schema'))`);
      // Whoever reads a table waits behind a change that waits for it, so that must not last.
      await db.query(`select set_config('lock_timeout', '${LOCK_TIMEOUT}', true)`);
      const answer = await work();
      await bus.publish(SCHEMA_CHANNEL, null);
      return answer;
    });
  } catch (error) {
    uncommitted.end();
    throw error;
  }
  // A unit around this one may still be rolled back, and then nobody tells us; its mark just costs a look now and then.
  if (nested) setTimeout(uncommitted.end, 60_000).unref();
  else await cache.refresh();
  return result;
}
