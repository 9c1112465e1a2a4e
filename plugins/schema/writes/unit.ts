import { CHANNEL } from '../freshness/watch.ts';
import { statedFailure } from './database-error.ts';
import type { WriteDeps } from './deps.ts';

/**
 * One unit of work of schema changes, alone in all processes. When it answers, and it was the outermost, this process
 * has the new overview and the others were told.
 */
export async function schemaUnit<T>({ db, keeper, bus, inUnit }: WriteDeps, work: () => Promise<T>): Promise<T> {
  const nested = inUnit();
  const mark = keeper.unsettled();
  let result: T;
  try {
    result = await db.transaction(async () => {
      // First among the effects of this unit: those of listeners shall find the new overview.
      db.afterCommit(() => {
        mark.settled();
        keeper.heard();
      });
      await db.query(`select pg_advisory_xact_lock(hashtext('platform_schema'))`);
      const answer = await work();
      await bus.publish(CHANNEL, null);
      return answer;
    });
  } catch (error) {
    mark.settled();
    throw statedFailure(error);
  }
  // A unit around this one may still be rolled back, and then nobody tells us; its mark just costs a look now and then.
  if (nested) setTimeout(mark.settled, 60_000).unref();
  else await keeper.refresh();
  return result;
}
