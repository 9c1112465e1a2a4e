import type { Db } from '../database/contract.ts';
import type { JobQueue } from './contract.ts';
import { JOB_SCHEMA, type JobStore } from './job-store.ts';

// Two parts, since pg-boss has an index of waiting jobs and one of running jobs with a group.
const COUNT = `select count(*)::int as count from (
  (select from ${JOB_SCHEMA}.job
    where name = $1 and state < 'active' and not blocked and group_id is not null and ($3::text is null or group_id = $3) limit $2)
  union all
  (select from ${JOB_SCHEMA}.job
    where name = $1 and state = 'active' and group_id is not null and ($3::text is null or group_id = $3) limit $2)) unfinished`;

interface Deps {
  readonly db: Pick<Db, 'query'>;
  readonly store: Pick<JobStore, 'isInstalled'>;
}

/** Creates the function that counts the jobs of a queue, or of one of its groups, that have not ended. */
export function createUnfinishedJobCounter({ db, store }: Deps, queue: string): JobQueue<unknown>['countUnfinished'] {
  // The tables of jobs stay once they exist.
  let isInstalled = false;
  return async (limit, group) => {
    isInstalled ||= await store.isInstalled();
    if (!isInstalled) return 0;
    const { rows } = await db.query<{ count: number }>(COUNT, [queue, limit, group ?? null]);
    return Math.min(rows[0]?.count ?? 0, limit);
  };
}
