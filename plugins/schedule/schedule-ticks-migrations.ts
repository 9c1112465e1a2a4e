import type { Db, Migration } from '../database/contract.ts';

/** The table of ticks: a row for each nominal time. */
export const TICKS = 'platform_schedule_ticks';
/** The table of earlier versions: a row for each job with its last tick. */
const LAST_TICKS = 'platform_extension_ticks';

/** The migrations that create the table of ticks, and take the last tick of each job over from the table of earlier versions. */
export function createScheduleTicksMigrations(db: Db): readonly Migration[] {
  const ticks = db.own(TICKS);
  const lastTicks = db.own(LAST_TICKS);
  return [
    {
      id: '2026-11-21-extension-ticks',
      up: () =>
        db.ddl(db.sql`create table if not exists ${lastTicks} (schedule text primary key, tick timestamptz not null)`),
    },
    {
      id: '2026-11-26-schedule-ticks',
      async up() {
        await db.ddl(
          db.sql`create table ${ticks} (schedule text, tick timestamptz, process uuid not null, finished timestamptz,
            primary key (schedule, tick))`,
        );
        await db.query(
          db.sql`insert into ${ticks} (schedule, tick, process, finished)
            select schedule, tick, gen_random_uuid(), now() from ${lastTicks}`,
        );
        await db.ddl(db.sql`drop table ${lastTicks}`);
      },
    },
  ];
}
