import type { Db, Migration } from '../database/contract.ts';

/** The table has the name it had when only extensions had schedules: processes of an older version agree by it too. */
const TICKS = 'platform_extension_ticks';

/** When each job ran last: what processes of one cluster agree by. A table that exists keeps its rows. */
export function createTicksMigration(db: Db): Migration {
  const ticks = db.own(TICKS);
  return {
    id: '2026-11-21-extension-ticks',
    up: () =>
      db.ddl(db.sql`create table if not exists ${ticks} (schedule text primary key, tick timestamptz not null)`),
  };
}

/** Claims a tick of a schedule: of all processes that reach it one gets true; a later tick that has run already leaves it out. */
export type ClaimTick = (schedule: string, tick: Date) => Promise<boolean>;

export function createClaimTick(db: Pick<Db, 'query' | 'write' | 'sql'>): ClaimTick {
  const CLAIM = db.sql`insert into ${db.write(TICKS)} as t (schedule, tick) values ($1, $2)
    on conflict (schedule) do update set tick = excluded.tick where t.tick < excluded.tick returning 1`;
  return async (schedule, tick) => {
    const { rows } = await db.query(CLAIM, [schedule, tick], { name: 'extension_tick' });
    return rows.length > 0;
  };
}
