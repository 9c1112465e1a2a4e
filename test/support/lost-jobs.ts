import type { FreshDatabase } from './database.ts';

/**
 * Lets running background jobs count as lost, as if a minute had passed since the last heartbeat of their processes: those of a process
 * that was killed begin again now instead of in half a minute. A process that lives sends the next heartbeat within seconds, so the jobs
 * that it runs have to be short.
 */
export const ageHeartbeatsOfJobs = (database: Pick<FreshDatabase, 'query'>): Promise<unknown> =>
  database.query(
    `update platform_queue.job set heartbeat_on = heartbeat_on - interval '1 minute' where state = 'active'`,
  );
