import type { Db } from '../database/contract.ts';
import type { JobState } from './contract.ts';
import { JOB_SCHEMA } from './job-store.ts';

/** How many jobs of a queue are in each state, and since when the oldest due one waits (ISO 8601). */
export interface QueueCounts {
  readonly queue: string;
  readonly waiting: number;
  readonly running: number;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly oldest_waiting: string | null;
}

/** One job as admins see it. Its data is not shown: mail and flows put secrets there. */
export interface ListedJob {
  readonly id: string;
  readonly queue: string;
  readonly state: JobState;
  readonly priority: number;
  /** What the plugin counts the job for, such as the id of a flow. */
  readonly group: string | null;
  /** Runs that began. */
  readonly attempts: number;
  readonly created: string;
  readonly start_after: string;
  readonly started: string | null;
  readonly ended: string | null;
  /** What the last failed run threw. */
  readonly error: string | null;
  readonly result: unknown;
  readonly progress: { readonly share: number; readonly text: string | null; readonly at: string } | null;
}

export interface JobListOptions {
  readonly queue: string;
  readonly state?: JobState;
  readonly id?: string;
  readonly limit: number;
  readonly offset: number;
}

export interface JobList {
  counts(): Promise<readonly QueueCounts[]>;
  jobs(options: JobListOptions): Promise<readonly ListedJob[]>;
  /** Where one job stands; undefined for one that is not kept. */
  state(queue: string, id: string): Promise<JobState | undefined>;
  /** The ids of a queue's dead letters. */
  failedIds(queue: string): Promise<readonly string[]>;
  /** Deletes completed and cancelled jobs of a queue that ended this many seconds ago, and progress of jobs that are gone. */
  deleteEnded(queue: string, seconds: number): Promise<void>;
}

/** The states of pg-boss behind each of ours. */
const STORED_STATES: Readonly<Record<JobState, readonly string[]>> = {
  waiting: ['created', 'retry'],
  running: ['active'],
  completed: ['completed'],
  failed: ['failed'],
  cancelled: ['cancelled'],
};

export const JOB_STATES = Object.keys(STORED_STATES) as readonly JobState[];

const STATE_SQL = `case j.state when 'created' then 'waiting' when 'retry' then 'waiting' when 'active' then 'running' else j.state::text end`;

const COUNTS = `select name as queue,
    (count(*) filter (where state in ('created', 'retry')))::int as waiting,
    (count(*) filter (where state = 'active'))::int as running,
    (count(*) filter (where state = 'completed'))::int as completed,
    (count(*) filter (where state = 'failed'))::int as failed,
    (count(*) filter (where state = 'cancelled'))::int as cancelled,
    to_json(min(start_after) filter (where state in ('created', 'retry') and start_after <= now())) as oldest_waiting
  from ${JOB_SCHEMA}.job group by name order by name`;

const STATE = `select ${STATE_SQL} as state from ${JOB_SCHEMA}.job j where j.name = $1 and j.id = $2::uuid`;

const FAILED_IDS = `select id from ${JOB_SCHEMA}.job where name = $1 and state = 'failed' order by completed_on`;

export function createJobList(db: Pick<Db, 'query' | 'own'>): JobList {
  const progress = db.own('platform_queue_progress');
  const job = `${JOB_SCHEMA}.job`;
  const JOBS = `select j.id, j.name as queue, ${STATE_SQL} as state, j.priority, j.group_id as "group",
      j.retry_count + case when j.started_on is null then 0 else 1 end as attempts, to_json(j.created_on) as created,
      to_json(j.start_after) as start_after, to_json(j.started_on) as started, to_json(j.completed_on) as ended,
      j.output->>'message' as error, j.output->'result' as result,
      case when p.job is not null then json_build_object('share', p.share, 'text', p.text, 'at', p.at) end as progress
    from ${job} j left join ${progress} p on p.job = j.id
    where j.name = $1 and ($2::text[] is null or j.state::text = any($2)) and ($3::uuid is null or j.id = $3)
    order by j.created_on desc, j.id limit $4 offset $5`;
  const DELETE_ENDED = `with gone as (
      delete from ${job} where name = $1 and state in ('completed', 'cancelled')
        and completed_on < now() - make_interval(secs => $2::int) returning id)
    delete from ${progress} p where p.job in (select id from gone)
      or not exists (select from ${job} j where j.id = p.job)`;
  return {
    counts: async () => (await db.query<QueueCounts>(COUNTS)).rows,
    async jobs({ queue, state, id, limit, offset }) {
      const states = state === undefined ? null : STORED_STATES[state];
      return (await db.query<ListedJob>(JOBS, [queue, states, id ?? null, limit, offset])).rows;
    },
    state: async (queue, id) => (await db.query<{ state: JobState }>(STATE, [queue, id])).rows[0]?.state,
    async failedIds(queue) {
      const { rows } = await db.query<{ id: string }>(FAILED_IDS, [queue]);
      return rows.map(({ id }) => id);
    },
    async deleteEnded(queue, seconds) {
      await db.query(DELETE_ENDED, [queue, seconds]);
    },
  };
}
