import { SCHEMA_CHANNEL } from '../contract.ts';
import { toSchemaChangeFailure } from './database-error.ts';
import type { SchemaWriteDeps } from './write-deps-and-guards.ts';

/** How long a change waits for a table that another transaction has locked. */
const LOCK_TIMEOUT = '5s';

/**
 * How often a schema change is tried. Writes of items lock tables in another order, and in a deadlock PostgreSQL ends one of the
 * two transactions.
 */
const ATTEMPTS = 4;
export const isDeadlock = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === '40P01';

/**
 * Runs schema changes in a unit of work, one at a time over all processes. When an outermost unit resolves, this
 * process has the new schema snapshot and the other processes have been notified.
 */
export async function runSchemaUnitOfWork<T>(deps: SchemaWriteDeps, work: () => Promise<T>): Promise<T> {
  const nested = deps.inUnit();
  for (let attempt = 1; ; attempt++) {
    try {
      return await runOnce(deps, nested, work);
    } catch (error) {
      if (!isDeadlock(error)) throw toSchemaChangeFailure(error);
      // PostgreSQL has rolled back the outermost unit, so only that one can be tried again.
      if (nested) throw error;
      if (attempt === ATTEMPTS) throw toSchemaChangeFailure(error);
    }
  }
}

async function runOnce<T>({ db, cache, bus }: SchemaWriteDeps, nested: boolean, work: () => Promise<T>): Promise<T> {
  const uncommitted = cache.beginUncommittedChange();
  let result: T;
  try {
    result = await db.transaction(async () => {
      // First in the after-commit queue, so that listeners find the new schema snapshot.
      db.afterCommit(() => {
        uncommitted.end();
        cache.invalidate();
      });
      // No other process may read a deleted collection or field once this process has answered, so the answer waits.
      db.answerAfter(bus.waitForConfirmation);
      await db.query(`select pg_advisory_xact_lock(hashtext('platform_schema'))`);
      // Readers of a table queue behind a change that waits for it, so the wait must be short.
      await db.query(`select set_config('lock_timeout', '${LOCK_TIMEOUT}', true)`);
      const answer = await work();
      await bus.publish(SCHEMA_CHANNEL, null);
      return answer;
    });
  } catch (error) {
    uncommitted.end();
    throw error;
  }
  // An outer unit may still roll back, without a notice. Until the timer ends, units of work check the catalogs once
  // more than needed.
  if (nested) setTimeout(uncommitted.end, 60_000).unref();
  else await cache.refresh();
  return result;
}
