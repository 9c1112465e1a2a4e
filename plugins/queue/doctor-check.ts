import type { DatabaseMaintenance, Db } from '../database/contract.ts';
import type { DoctorCheck } from '../doctor/contract.ts';
import { JOB_SCHEMA } from './job-store.ts';

interface Deps {
  readonly db: Pick<Db, 'query'>;
  readonly maintenance: Pick<DatabaseMaintenance, 'open' | 'hasDatabase'>;
}

const STATE_SQL = `select to_regnamespace('${JOB_SCHEMA}') is not null as "isThere",
  case when to_regnamespace('${JOB_SCHEMA}') is null then has_database_privilege(current_database(), 'create')
    else has_schema_privilege(to_regnamespace('${JOB_SCHEMA}')::oid, 'usage') and has_schema_privilege(to_regnamespace('${JOB_SCHEMA}')::oid, 'create')
  end as "isAllowed"`;

/** Whether the schema of background jobs is there and can be used, or can be created. */
export const createQueueDoctorCheck = ({ db, maintenance }: Deps): DoctorCheck => ({
  name: 'queue',
  async run() {
    // The check of the database tells that there is none.
    if (!(await maintenance.hasDatabase())) return [];
    await maintenance.open();
    const [state] = (await db.query<{ isThere: boolean; isAllowed: boolean }>(STATE_SQL)).rows;
    if (state?.isAllowed) return [{ status: 'ok', text: `background jobs have the schema ${JOB_SCHEMA}` }];
    if (state?.isThere)
      return [
        {
          status: 'fail',
          text: `the database user may not use the schema ${JOB_SCHEMA}, or not create tables in it, which background jobs need`,
          remedy: `grant usage, create on schema ${JOB_SCHEMA} to the user of the service, or make it the owner`,
        },
      ];
    return [
      {
        status: 'fail',
        text: `the database user may not create the schema ${JOB_SCHEMA}, which background jobs need`,
        remedy: `grant create on the database to it, or create the schema ${JOB_SCHEMA} with it as owner`,
      },
    ];
  },
});
