import type { DatabaseMaintenance, Db } from '../database/contract.ts';
import type { DoctorCheck } from '../doctor/contract.ts';
import { JOB_SCHEMA } from './job-store.ts';

interface Deps {
  readonly db: Pick<Db, 'query'>;
  readonly maintenance: Pick<DatabaseMaintenance, 'open'>;
}

const STATE_SQL = `select to_regnamespace('${JOB_SCHEMA}') is not null as "isThere",
  has_database_privilege(current_database(), 'create') as "mayCreate"`;

/** Whether the schema of background jobs is there, or can be created. */
export const createQueueDoctorCheck = ({ db, maintenance }: Deps): DoctorCheck => ({
  name: 'queue',
  async run() {
    await maintenance.open();
    const [state] = (await db.query<{ isThere: boolean; mayCreate: boolean }>(STATE_SQL)).rows;
    if (state?.isThere || state?.mayCreate)
      return [{ status: 'ok', text: `background jobs have the schema ${JOB_SCHEMA}` }];
    return [
      {
        status: 'fail',
        text: `the database user may not create the schema ${JOB_SCHEMA}, which background jobs need`,
        remedy: `grant create on the database to it, or create the schema ${JOB_SCHEMA} with it as owner`,
      },
    ];
  },
});
