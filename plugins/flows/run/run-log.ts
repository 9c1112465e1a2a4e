import type { Db } from '../../database/contract.ts';
import type { SystemCollection } from '../../schema/contract.ts';
import type { FlowPlan } from '../plan/flow-plan.ts';
import type { RunOutcome } from './run-chain.ts';

/** Ended runs of flows, for `GET /flows/<id>/runs`. What the operations gave is in the revision of the activity. */
export const flowRunsCollection: SystemCollection = {
  collection: 'platform_flow_runs',
  note: 'Ended runs of flows',
  internal: true,
  fields: [
    { field: 'id', type: 'uuid', primary: true },
    { field: 'flow', type: 'uuid', references: { collection: 'platform_flows', onDelete: 'CASCADE' } },
    { field: 'status', type: 'string', maxLength: 16 },
    { field: 'started', type: 'timestamp' },
    { field: 'ended', type: 'timestamp', default: 'now()' },
    { field: 'step', type: 'string', maxLength: 255, nullable: true },
    { field: 'error', type: 'json', nullable: true },
    { field: 'user', type: 'uuid', nullable: true },
    { field: 'activity', type: 'integer', nullable: true },
  ],
  indexes: [['flow', 'started']],
};

/** A run as `GET /flows/<id>/runs` answers it. */
export interface LoggedRun {
  readonly id: string;
  readonly status: string;
  readonly started: string;
  readonly ended: string;
  /** Milliseconds. */
  readonly duration: number;
  /** The key of the last operation. */
  readonly step: string | null;
  /** What the last operation failed with, without secrets. */
  readonly error: unknown;
  readonly user: string | null;
  /** Id of the row of activity, whose revision has the operations; null where the flow keeps none. */
  readonly activity: number | null;
}

export interface RunLog {
  add(
    id: string,
    plan: FlowPlan,
    outcome: RunOutcome,
    about: { started: Date; user: string | null; activity: number },
  ): Promise<void>;
  list(
    flow: string,
    limit: number,
    offset: number,
  ): Promise<{ readonly runs: readonly LoggedRun[]; readonly count: number }>;
}

export function createRunLog(db: Db): RunLog {
  const runs = db.own('platform_flow_runs');
  // A job that runs again after its process died has the same id.
  const ADD = db.sql`insert into ${runs} (id, flow, status, started, step, error, "user", activity)
    select $1, f.id, $3, $4, $5, $6, $7, $8 from ${db.read('platform_flows')} f where f.id = $2
    on conflict (id) do update set status = excluded.status, ended = now(), step = excluded.step, error = excluded.error, activity = excluded.activity`;
  const LIST = db.sql`select id, status, started, ended, step, error, "user", activity,
      round(extract(epoch from ended - started) * 1000)::int as duration
    from ${runs} where flow = $1 order by started desc, id limit $2 offset $3`;
  const COUNT = db.sql`select count(*)::int as count from ${runs} where flow = $1`;
  return {
    async add(id, plan, { status, lastStep, data, secrets }, { started, user, activity }) {
      const error = status === 'reject' ? JSON.stringify(secrets.redact(data.$last)) : null;
      const step = lastStep?.slice(0, 255) ?? null;
      await db.query(ADD, [id, plan.id, status, started, step, error, user, activity]);
    },
    async list(flow, limit, offset) {
      const [{ rows }, counted] = await Promise.all([
        db.query<LoggedRun>(LIST, [flow, limit, offset]),
        db.query<{ count: number }>(COUNT, [flow]),
      ]);
      return { runs: rows, count: counted.rows[0]?.count ?? 0 };
    },
  };
}
