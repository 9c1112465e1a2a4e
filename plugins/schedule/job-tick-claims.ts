import type { Db, Migration } from '../database/contract.ts';

/** The table has the name it had when only extensions had schedules: processes of an older version use it too. */
const TICKS = 'platform_extension_ticks';

/**
 * The migration that creates the table with the last tick of each job, by which processes agree who runs it. An existing table
 * keeps its rows.
 */
export function createScheduleTicksMigration(db: Db): Migration {
  const ticks = db.own(TICKS);
  return {
    id: '2026-11-21-extension-ticks',
    up: () =>
      db.ddl(db.sql`create table if not exists ${ticks} (schedule text primary key, tick timestamptz not null)`),
  };
}

/** Claims a tick of a schedule: true in exactly one of all processes; false in all of them when a later tick has run already. */
export type ScheduleTickClaimer = (schedule: string, tick: Date) => Promise<boolean>;

export function createScheduleTickClaimer(db: Pick<Db, 'query' | 'write' | 'sql'>): ScheduleTickClaimer {
  const CLAIM = db.sql`insert into ${db.write(TICKS)} as t (schedule, tick) values ($1, $2)
    on conflict (schedule) do update set tick = excluded.tick where t.tick < excluded.tick returning 1`;
  return async (schedule, tick) => {
    const { rows } = await db.query(CLAIM, [schedule, tick], { name: 'extension_tick' });
    return rows.length > 0;
  };
}
