import type { ProcessPresence } from '../cluster/contract.ts';
import type { Db, Migration } from '../database/contract.ts';

const TICKS = 'platform_schedule_ticks';
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

/** The ticks of jobs, by which processes agree who runs them: one row for each nominal time. */
export interface ScheduleTicks {
  /** True in exactly one of all processes; false in all of them where the tick or a later one was claimed already. */
  claim(schedule: string, tick: Date): Promise<boolean>;
  /** Records that the run of a tick has ended, so that no process takes it over. */
  finish(schedule: string, tick: Date): Promise<void>;
  /**
   * Claims ticks after `since` whose process died before the run had ended. `isWatched`: a live process still runs one, so it is worth
   * to look again.
   */
  takeOver(schedule: string, since: Date): Promise<{ readonly taken: readonly Date[]; readonly isWatched: boolean }>;
  /** The last tick of a job; where it has none, `now` is recorded as its first one, which has no run. */
  last(schedule: string, now: Date): Promise<Date>;
}

interface Deps {
  readonly db: Pick<Db, 'query' | 'write' | 'sql'>;
  readonly presence: Pick<ProcessPresence, 'id' | 'findDead'>;
}

export function createScheduleTicks({ db, presence }: Deps): ScheduleTicks {
  const ticks = db.write(TICKS);
  const CLAIM = db.sql`insert into ${ticks} as t (schedule, tick, process)
    select $1, $2::timestamptz, $3::uuid where not exists (select from ${ticks} where schedule = $1 and tick >= $2)
    on conflict do nothing returning 1`;
  // The last row of each job stays: by it a later process knows which ticks were missed.
  const FINISH = db.sql`with ended as (
      update ${ticks} set finished = now() where schedule = $1 and tick = $2 and process = $3)
    delete from ${ticks} where schedule = $1 and tick < $2 and (finished is not null or tick < $2 - interval '1 day')`;
  const UNFINISHED = db.sql`select tick, process from ${ticks}
    where schedule = $1 and tick > $2 and finished is null order by tick`;
  const TAKE = db.sql`update ${ticks} set process = $4
    where schedule = $1 and tick = $2 and process = $3 and finished is null returning 1`;
  const FIRST = db.sql`insert into ${ticks} (schedule, tick, process, finished)
    select $1, $2::timestamptz, $3::uuid, now() where not exists (select from ${ticks} where schedule = $1)`;
  const LAST = db.sql`select tick from ${ticks} where schedule = $1 order by tick desc limit 1`;

  return {
    async claim(schedule, tick) {
      const { rows } = await db.query(CLAIM, [schedule, tick, presence.id], { name: 'schedule_claim' });
      return rows.length > 0;
    },
    async finish(schedule, tick) {
      await db.query(FINISH, [schedule, tick, presence.id], { name: 'schedule_finish' });
    },
    async takeOver(schedule, since) {
      const { rows } = await db.query<{ tick: Date; process: string }>(UNFINISHED, [schedule, since]);
      const dead = await presence.findDead([...new Set(rows.map(({ process }) => process))]);
      const taken: Date[] = [];
      for (const { tick, process } of rows) {
        if (!dead.includes(process)) continue;
        const { count } = await db.query(TAKE, [schedule, tick, process, presence.id]);
        if (count > 0) taken.push(tick);
      }
      return { taken, isWatched: rows.some(({ process }) => process !== presence.id && !dead.includes(process)) };
    },
    async last(schedule, now) {
      await db.query(FIRST, [schedule, now, presence.id]);
      const { rows } = await db.query<{ tick: Date }>(LAST, [schedule]);
      return rows[0]?.tick ?? now;
    },
  };
}
