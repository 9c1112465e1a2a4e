import type { Db, Migration } from '../database/contract.ts';

const TABLE = 'platform_mail_windows';

/** The migration that creates the table of time windows, in which messages and recipients are counted over all processes. */
export function createSendWindowsMigration(db: Db): Migration {
  const table = db.own(TABLE);
  return {
    id: '2026-11-26-mail-windows',
    up: () =>
      db.ddl(
        db.sql`create table ${table} (name text primary key, started_at timestamptz not null, used integer not null)`,
      ),
  };
}

/** At most `points` in a window of `duration` seconds, beginning with the first one. */
export interface SendWindowLimit {
  readonly points: number;
  readonly duration: number;
}

/** Counts in windows of time, over all processes. */
export interface SendWindows {
  /**
   * Reserves one place in the first window that has a free one, and resolves with when that window begins; undefined where more
   * than `queue` messages wait already.
   */
  reserve(name: string, limit: SendWindowLimit & { readonly queue: number }): Promise<Date | undefined>;
  /** Takes `count` places of the running window at once; false, without taking any, where fewer are free. */
  take(name: string, limit: SendWindowLimit, count: number): Promise<boolean>;
}

export function createSendWindows(db: Pick<Db, 'query' | 'write' | 'sql'>): SendWindows {
  const table = db.write(TABLE);
  const RESERVE = db.sql`insert into ${table} as w (name, started_at, used) values ($1, now(), 1)
    on conflict (name) do update set
      started_at = case when w.started_at + make_interval(secs => $2) <= now() then now()
        when w.used < $3 then w.started_at else w.started_at + make_interval(secs => $2) end,
      used = case when w.started_at + make_interval(secs => $2) > now() and w.used < $3 then w.used + 1 else 1 end
    where ceil(extract(epoch from w.started_at - now()) / $2) * $3 + w.used < $4::float8 + $3
    returning started_at`;
  const TAKE = db.sql`insert into ${table} as w (name, started_at, used) values ($1, now(), $4)
    on conflict (name) do update set
      started_at = case when w.started_at + make_interval(secs => $2) <= now() then now() else w.started_at end,
      used = case when w.started_at + make_interval(secs => $2) <= now() then $4 else w.used + $4 end
    where w.started_at + make_interval(secs => $2) <= now() or w.used + $4 <= $3
    returning 1`;
  return {
    async reserve(name, { points, duration, queue }) {
      const { rows } = await db.query<{ started_at: Date }>(RESERVE, [name, duration, points, queue]);
      const [row] = rows;
      return row && new Date(row.started_at);
    },
    async take(name, { points, duration }, count) {
      if (count > points) return false;
      const { rows } = await db.query(TAKE, [name, duration, points, count]);
      return rows.length > 0;
    },
  };
}
