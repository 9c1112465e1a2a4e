import type { Db } from '../../database/contract.ts';
import type { FlowPlan } from '../plan/flow-plan.ts';
import type { RunOutcome } from '../run/run-chain.ts';
import { toStoredJson } from './json-text.ts';
import type { KeptTrigger } from './kept-trigger.ts';
import type { RunStatus } from './run-statuses.ts';

/** A run that has ended. */
export interface EndedRun {
  readonly id: string;
  readonly plan: FlowPlan;
  readonly outcome: RunOutcome;
  readonly status: RunStatus;
  readonly started: Date;
  readonly user: string | null;
  /** Id of the row of activity. */
  readonly activity: number;
  readonly kept?: KeptTrigger | undefined;
  /** The data of the run without secrets, where the flow keeps its steps. */
  readonly data?: Readonly<Record<string, unknown>> | undefined;
}

/** Stores ended runs. Requests wait for it, so it is one statement, steps included. */
export type AddEndedRun = (run: EndedRun) => Promise<void>;

const MAX_KEY_LENGTH = 255;

export function createAddEndedRun(db: Db): AddEndedRun {
  const runs = db.own('platform_flow_runs');
  const steps = db.own('platform_flow_run_steps');
  // A run that began as a job has a row already. A cancelled one stays cancelled, whatever its chain came to.
  const ADD = db.sql`with run as (
      insert into ${runs} as r (id, flow, status, started, ended, step, error, "user", activity, trigger, trigger_until)
      select $1, f.id, $3, $4, now(), $5, $6::jsonb, $7, $8, $9, $10 from ${db.read('platform_flows')} f where f.id = $2
      on conflict (id) do update set status = case r.status when 'cancelled' then r.status else excluded.status end,
        started = excluded.started, ended = now(), step = excluded.step, error = excluded.error, activity = excluded.activity, process = null
      returning id)
    insert into ${steps} (run, position, operation, key, status, started, duration, options, output, missing)
    select run.id, s.position, s.operation, s.key, s.status, s.started, s.duration, s.options, s.output, s.missing
    from run, jsonb_to_recordset($11::jsonb) s(position integer, operation uuid, key text, status text, started timestamptz,
      duration integer, options jsonb, output jsonb, missing jsonb)`;
  return async ({ id, plan, outcome, status, started, user, activity, kept, data }) => {
    const { secrets } = outcome;
    const last = outcome.lastStep?.slice(0, MAX_KEY_LENGTH) ?? null;
    const error = outcome.status === 'reject' ? toStoredJson(data?.$last ?? secrets.redact(outcome.data.$last)) : null;
    await db.query(
      ADD,
      [
        id,
        plan.id,
        status,
        started,
        last,
        error,
        user,
        activity,
        kept?.sealed ?? null,
        kept?.until ?? null,
        data ? toStoredJson(storedStepsOf(outcome, data)) : '[]',
      ],
      { name: 'flow_run_end' },
    );
  };
}

/** Outputs are in the redacted data of the run by key; only where two steps have one key, that of the first is redacted here. */
function storedStepsOf({ steps, timings, secrets }: RunOutcome, data: Readonly<Record<string, unknown>>): unknown {
  const lastPositions = new Map(steps.map(({ key }, position) => [key, position]));
  return steps.map(({ operation, key, status, options, missing }, position) => {
    const { started, duration, output } = timings[position] as (typeof timings)[number];
    const isInData = lastPositions.get(key) === position;
    return {
      position,
      operation,
      key: key.slice(0, MAX_KEY_LENGTH),
      status,
      started,
      duration,
      options,
      output: isInData ? data[key] : secrets.redact(output),
      missing,
    };
  });
}
