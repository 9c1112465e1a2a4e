import type { ProcessPresence } from '../cluster/contract.ts';
import type { Db } from '../database/contract.ts';
import { TICKS } from './schedule-ticks-migrations.ts';

/** The process of a tick that waits for its run. */
const NONE = '00000000-0000-0000-0000-000000000000';

/** The ticks of jobs, by which processes agree who runs them: one row for each nominal time. */
export interface ScheduleTicks {
  /**
   * True in exactly one of all processes; false in all of them where the tick or a later one was claimed already. True again in the
   * process that has claimed the tick, until its run has ended: the answer to the first claim may have been lost with the connection.
   */
  claim(schedule: string, tick: Date): Promise<boolean>;
  /** Records that the run of a tick has ended, so that no process takes it over. */
  finish(schedule: string, tick: Date): Promise<void>;
  /**
   * Adds ticks, in their order, that wait for `next` in any process, each once over all processes. `isFull`: as many wait as may, and
   * some were left out.
   */
  enqueue(schedule: string, ticks: readonly Date[], max: number): Promise<{ readonly isFull: boolean }>;
  /**
   * Takes the first tick after `since` whose run has not ended: one that waits, or that of a process that died. `running`: a live
   * process runs it, this one where `isOwn`. To be called under a lock, so that ticks run in their order.
   */
  next(schedule: string, since: Date): Promise<NextTick | undefined>;
  /** Whether ticks after `since` are left for `next`, and whether other live processes run some. */
  look(schedule: string, since: Date): Promise<{ readonly isLeft: boolean; readonly isWatched: boolean }>;
  /**
   * Claims ticks after `since` whose process died before the run had ended. `isWatched`: a live process still runs one, so it is worth
   * to look again.
   */
  takeOver(schedule: string, since: Date): Promise<{ readonly taken: readonly Date[]; readonly isWatched: boolean }>;
  /** The last tick of a job; where it has none, `now` is recorded as its first one, which has no run. */
  last(schedule: string, now: Date): Promise<Date>;
  /** Drops ticks that wait, and records this one as the last, without a run. */
  skipTo(schedule: string, tick: Date): Promise<void>;
}

/** What `next` has found. */
export interface NextTick {
  readonly tick: Date;
  readonly state: 'taken' | 'running';
  readonly isOwn: boolean;
}

interface Deps {
  readonly db: Pick<Db, 'query' | 'write' | 'sql' | 'literal'>;
  readonly presence: Pick<ProcessPresence, 'id' | 'findDead'>;
}

interface TickRow {
  readonly tick: Date;
  readonly process: string;
}

/** The statements; in all of them `$1` is the name of the job. */
function tickStatements(db: Deps['db']) {
  const ticks = db.write(TICKS);
  const none = db.sql`${db.literal(NONE)}::uuid`;
  return {
    claim: db.sql`insert into ${ticks} as t (schedule, tick, process)
    select $1, $2::timestamptz, $3::uuid where not exists (select from ${ticks} where schedule = $1 and tick >= $2)
      or exists (select from ${ticks} where schedule = $1 and tick = $2 and process = $3)
    on conflict (schedule, tick) do update set process = excluded.process
      where t.process = excluded.process and t.finished is null returning 1`,
    // The last row of each job stays: by it a later process knows which ticks were missed.
    finish: db.sql`with ended as (
      update ${ticks} set finished = now() where schedule = $1 and tick = $2 and process = $3)
    delete from ${ticks} where schedule = $1 and tick < $2
      and (finished is not null or (tick < $2 - interval '1 day' and process <> ${none}))`,
    enqueue: db.sql`with waiting as (select count(*) as count from ${ticks} where schedule = $1 and finished is null),
      new as (select tick from unnest($2::timestamptz[]) tick
        where tick > coalesce((select max(t.tick) from ${ticks} t where t.schedule = $1), '-infinity')),
      added as (insert into ${ticks} (schedule, tick, process)
        select $1, tick, ${none} from new order by tick limit greatest(0, $3::int - (select count from waiting))
        on conflict do nothing)
    select (select count(*) from new) > $3::int - (select count from waiting) as full`,
    unfinished: db.sql`select tick, process from ${ticks}
    where schedule = $1 and tick > $2 and finished is null and process <> ${none} order by tick`,
    firstUnfinished: db.sql`select tick, process from ${ticks}
    where schedule = $1 and tick > $2 and finished is null order by tick limit 1`,
    runners: db.sql`select distinct process from ${ticks} where schedule = $1 and tick > $2 and finished is null`,
    take: db.sql`update ${ticks} set process = $4
    where schedule = $1 and tick = $2 and process = $3 and finished is null returning 1`,
    first: db.sql`insert into ${ticks} (schedule, tick, process, finished)
    select $1, $2::timestamptz, $3::uuid, now() where not exists (select from ${ticks} where schedule = $1)`,
    last: db.sql`select tick from ${ticks} where schedule = $1 order by tick desc limit 1`,
    skipTo: db.sql`with dropped as (
      delete from ${ticks} where schedule = $1 and tick < $2 and process = ${none} and finished is null)
    insert into ${ticks} (schedule, tick, process, finished)
    select $1, $2::timestamptz, $3::uuid, now() where not exists (select from ${ticks} where schedule = $1 and tick >= $2)
    on conflict do nothing`,
  };
}

export function createScheduleTicks({ db, presence }: Deps): ScheduleTicks {
  const statements = tickStatements(db);

  async function take(schedule: string, { tick, process }: TickRow): Promise<boolean> {
    return (await db.query(statements.take, [schedule, tick, process, presence.id])).count > 0;
  }
  const isLeft = async (process: string): Promise<boolean> =>
    process === NONE || (await presence.findDead([process])).length > 0;

  return {
    async claim(schedule, tick) {
      const { rows } = await db.query(statements.claim, [schedule, tick, presence.id], { name: 'schedule_claim' });
      return rows.length > 0;
    },
    async finish(schedule, tick) {
      await db.query(statements.finish, [schedule, tick, presence.id], { name: 'schedule_finish' });
    },
    async enqueue(schedule, all, max) {
      const { rows } = await db.query<{ full: boolean }>(statements.enqueue, [schedule, all, max], {
        name: 'schedule_enqueue',
      });
      return { isFull: rows[0]?.full ?? false };
    },
    async next(schedule, since) {
      for (;;) {
        const [row] = (await db.query<TickRow>(statements.firstUnfinished, [schedule, since])).rows;
        if (!row) return undefined;
        const isOwn = row.process === presence.id;
        if (isOwn || !(await isLeft(row.process))) return { tick: row.tick, state: 'running', isOwn };
        if (await take(schedule, row)) return { tick: row.tick, state: 'taken', isOwn };
      }
    },
    async look(schedule, since) {
      const { rows } = await db.query<Pick<TickRow, 'process'>>(statements.runners, [schedule, since]);
      const others = rows.map(({ process }) => process).filter((one) => one !== NONE && one !== presence.id);
      const dead = await presence.findDead(others);
      const isLeft = dead.length > 0 || rows.some(({ process }) => process === NONE);
      return { isLeft, isWatched: dead.length < others.length };
    },
    async takeOver(schedule, since) {
      const { rows } = await db.query<TickRow>(statements.unfinished, [schedule, since]);
      const dead = await presence.findDead([...new Set(rows.map(({ process }) => process))]);
      const taken: Date[] = [];
      for (const row of rows) if (dead.includes(row.process) && (await take(schedule, row))) taken.push(row.tick);
      return { taken, isWatched: rows.some(({ process }) => process !== presence.id && !dead.includes(process)) };
    },
    async last(schedule, now) {
      await db.query(statements.first, [schedule, now, presence.id]);
      const { rows } = await db.query<{ tick: Date }>(statements.last, [schedule]);
      return rows[0]?.tick ?? now;
    },
    async skipTo(schedule, tick) {
      await db.query(statements.skipTo, [schedule, tick, presence.id]);
    },
  };
}
