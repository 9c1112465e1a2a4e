import type { JobResult, JobWithMetadata } from 'pg-boss';
import { JOB_SCHEMA, type JobStore } from './job-store.ts';

/**
 * Makes a running job wait until a time. Answers the result of the run for pg-boss.
 * @throws the errors of `JobStore.query`.
 */
export type PostponeJob = (job: JobWithMetadata<unknown>, until: Date) => Promise<JobResult<Record<string, unknown>>>;

// Without `started_on` the next run does not count as a retry. A job that another process has taken over meanwhile is left alone.
const POSTPONE = `update ${JOB_SCHEMA}.job
  set state = 'retry', started_on = null, heartbeat_on = null, start_after = $4,
    keep_until = greatest(keep_until, $4::timestamptz + interval '365 days')
  where name = $1 and id = $2 and state = 'active' and retry_count = $3`;

/** pg-boss settles a job by the attempt that it fetched; this one it never did, so that a postponed job stays as it is. */
const NO_ATTEMPT = -1;

export const isPostponed = ({ retryCount }: JobWithMetadata<unknown>): boolean => retryCount === NO_ATTEMPT;

export const createPostponeJob =
  (store: Pick<JobStore, 'query'>): PostponeJob =>
  async (job, until) => {
    await store.query(POSTPONE, [job.name, job.id, job.retryCount, until.toISOString()]);
    job.retryCount = NO_ATTEMPT;
    return { id: job.id, status: 'completed', output: {} };
  };
