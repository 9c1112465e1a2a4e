import type { Db, Migration } from '../../database/contract.ts';
import type { SystemCollection, SystemField } from '../../schema/contract.ts';

const FLOW: SystemField = {
  field: 'flow',
  type: 'uuid',
  references: { collection: 'platform_flows', onDelete: 'CASCADE' },
};
const text = (field: string, maxLength: number, nullable = false): SystemField => ({
  field,
  type: 'string',
  maxLength,
  nullable,
});
const optional = (field: string, type: SystemField['type']): SystemField => ({ field, type, nullable: true });

/** Runs of flows, as far as `accountability` of the flow lets the service keep them. */
const flowRunsCollection: SystemCollection = {
  collection: 'platform_flow_runs',
  note: 'Runs of flows',
  internal: true,
  fields: [
    { field: 'id', type: 'uuid', primary: true },
    FLOW,
    text('status', 16),
    { field: 'started', type: 'timestamp' },
    optional('ended', 'timestamp'),
    text('step', 255, true),
    optional('error', 'json'),
    optional('user', 'uuid'),
    optional('activity', 'integer'),
    // The process that works on a run under way.
    optional('process', 'uuid'),
    // Whether the run is a job, which another process repeats where this one dies.
    { field: 'queued', type: 'boolean', default: 'false' },
    optional('retry_of', 'uuid'),
    // The trigger and the caller, sealed, where the flow keeps them.
    optional('trigger', 'text'),
    optional('trigger_until', 'timestamp'),
  ],
  indexes: [['flow', 'started'], ['started']],
};

/** Steps of runs of flows whose `accountability` is `all`, without secrets. */
const flowRunStepsCollection: SystemCollection = {
  collection: 'platform_flow_run_steps',
  note: 'Steps of runs of flows',
  internal: true,
  fields: [
    { field: 'id', type: 'integer', primary: true, autoIncrement: true },
    { field: 'run', type: 'uuid', references: { collection: 'platform_flow_runs', onDelete: 'CASCADE' } },
    { field: 'position', type: 'integer' },
    { field: 'operation', type: 'uuid' },
    text('key', 255),
    text('status', 16),
    { field: 'started', type: 'timestamp' },
    // Milliseconds.
    { field: 'duration', type: 'integer' },
    optional('options', 'json'),
    optional('output', 'json'),
    optional('missing', 'json'),
  ],
};

/** How often each flow ran, in all processes. */
const flowCountersCollection: SystemCollection = {
  collection: 'platform_flow_counters',
  note: 'How often flows ran and failed',
  internal: true,
  fields: [
    { ...FLOW, primary: true },
    { field: 'runs', type: 'bigInteger', default: '0' },
    { field: 'failures', type: 'bigInteger', default: '0' },
    { field: 'failures_in_row', type: 'integer', default: '0' },
    optional('last_run', 'timestamp'),
    optional('last_failure', 'timestamp'),
  ],
};

export const RUN_COLLECTIONS: readonly SystemCollection[] = [
  flowRunsCollection,
  flowRunStepsCollection,
  flowCountersCollection,
];

/** Runs of earlier versions had ended when they were stored; and runs under way are found without a look at all others. */
export function runsUnderWayMigration(db: Db): Migration {
  const runs = db.own('platform_flow_runs');
  return {
    id: '2026-11-27-runs-under-way',
    async up() {
      await db.ddl(db.sql`alter table ${runs} alter column ended drop not null, alter column ended drop default`);
      await db.ddl(
        db.sql`create index if not exists platform_flow_runs_under_way on ${runs} (flow) where status in ('waiting', 'running')`,
      );
    },
  };
}
