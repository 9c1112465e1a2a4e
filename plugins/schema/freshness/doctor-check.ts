import type { DatabaseMaintenance, Db } from '../../database/contract.ts';
import type { DoctorCheck } from '../../doctor/contract.ts';
import { EVENT_TRIGGER_WORKS } from './change-triggers.ts';

interface Deps {
  readonly db: Pick<Db, 'query'>;
  readonly maintenance: Pick<DatabaseMaintenance, 'open' | 'hasDatabase'>;
  /** CACHE_SCHEMA. */
  readonly isCached: boolean;
}

const STATE_SQL = `select ${EVENT_TRIGGER_WORKS} as "isThere",
  (select rolsuper from pg_roles where rolname = current_user) as "isSuperuser"`;

/** Whether the service learns of changes that others make to the tables of the database. */
export const createSchemaDoctorCheck = ({ db, maintenance, isCached }: Deps): DoctorCheck => ({
  name: 'schema',
  async run() {
    if (isCached)
      return [{ status: 'ok', text: 'changes that others make to tables are seen after a restart (CACHE_SCHEMA)' }];
    // The check of the database tells that there is none.
    if (!(await maintenance.hasDatabase())) return [];
    await maintenance.open();
    const [state] = (await db.query<{ isThere: boolean; isSuperuser: boolean }>(STATE_SQL)).rows;
    if (state?.isThere || state?.isSuperuser)
      return [{ status: 'ok', text: 'changes that others make to tables are announced by an event trigger' }];
    return [
      {
        status: 'warn',
        text: 'the database user is no superuser: it cannot create the event trigger that announces changes of tables',
        remedy:
          'where tables change seldom, set CACHE_SCHEMA=true; else let a superuser create the event trigger, as the admin guide says',
      },
    ];
  },
});
