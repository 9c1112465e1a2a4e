import { CHANNEL } from '../freshness/watch.ts';
import { statedFailure } from './database-error.ts';
import type { WriteDeps } from './deps.ts';

/** How long a change waits for a table that somebody else's open transaction uses. */
const TABLE_WAIT = '5s';

/** Whoever writes items locks tables in an order of his own; where that crosses ours, PostgreSQL ends one of the two. */
const ATTEMPTS = 4;
const isDeadlock = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === '40P01';

/**
 * One unit of work of schema changes, alone in all processes. When it answers, and it was the outermost, this process
 * has the new overview and the others were told.
 */
export async function schemaUnit<T>(deps: WriteDeps, work: () => Promise<T>): Promise<T> {
  const nested = deps.inUnit();
  for (let attempt = 1; ; attempt++) {
    try {
      return await once(deps, nested, work);
    } catch (error) {
      if (!isDeadlock(error)) throw statedFailure(error);
      // The outermost unit is what has been rolled back, and what can be tried again.
      if (nested) throw error;
      if (attempt === ATTEMPTS) throw statedFailure(error);
    }
  }
}

async function once<T>({ db, keeper, bus }: WriteDeps, nested: boolean, work: () => Promise<T>): Promise<T> {
  const mark = keeper.unsettled();
  let result: T;
  try {
    result = await db.transaction(async () => {
      // First among the effects of this unit: those of listeners shall find the new overview.
      db.afterCommit(() => {
        mark.settled();
        keeper.heard();
      });
      // What is gone from the schema is not to be read at another process once this one has answered.
      db.answerAfter(bus.confirmed);
      await db.query(`select pg_advisory_xact_lock(hashtext('platform_schema'))`);
      // Whoever reads a table waits behind a change that waits for it, so that must not last.
      await db.query(`select set_config('lock_timeout', '${TABLE_WAIT}', true)`);
      const answer = await work();
      await bus.publish(CHANNEL, null);
      return answer;
    });
  } catch (error) {
    mark.settled();
    throw error;
  }
  // A unit around this one may still be rolled back, and then nobody tells us; its mark just costs a look now and then.
  if (nested) setTimeout(mark.settled, 60_000).unref();
  else await keeper.refresh();
  return result;
}
