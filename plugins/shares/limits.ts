import type { Db } from '../database/contract.ts';
import { SHARE_LIMITS_TABLE } from './collections.ts';

/** At most `points` in a window of `seconds`, which begins with the first one. */
export interface WindowLimit {
  readonly points: number;
  readonly seconds: number;
}

/** Counts in windows of time, over all processes. */
export interface WindowLimits {
  /**
   * Takes `count` points of the running window; answers undefined. Where fewer are left it takes none, and answers when the window
   * ends. A row with `share` is deleted with the share.
   */
  take(key: string, limit: WindowLimit, count: number, share?: string): Promise<Date | undefined>;
  /** Gives one point back to each of these windows; deletes those that nothing was taken from. */
  giveBack(keys: readonly string[]): Promise<void>;
  /** Deletes the windows of a share that have ended, or with null those without a share. */
  removeEnded(share: string | null): Promise<void>;
}

export function createWindowLimits(db: Db): WindowLimits {
  const limits = db.write(SHARE_LIMITS_TABLE);
  const TAKE = db.sql`insert into ${limits} as l (key, used, ends, share)
    select $1, $2, now() + make_interval(secs => $3), $5::uuid where $2::int <= $4::int
    on conflict (key) do update set
      used = case when l.ends <= now() then excluded.used else l.used + excluded.used end,
      ends = case when l.ends <= now() then excluded.ends else l.ends end
    where l.ends <= now() or l.used + excluded.used <= $4::int
    returning 1`;
  const ENDS = db.sql`select ends from ${limits} where key = $1 and ends > now()`;
  const GIVE_BACK = db.sql`update ${limits} set used = greatest(used - 1, 0) where key = any($1::text[])`;
  const REMOVE_EMPTY = db.sql`delete from ${limits} where key = any($1::text[]) and used = 0`;
  const REMOVE_ENDED = db.sql`delete from ${limits} where share is not distinct from $1::uuid and ends <= now()`;

  return {
    async take(key, { points, seconds }, count, share) {
      const { count: taken } = await db.query(TAKE, [key, count, seconds, points, share ?? null]);
      if (taken > 0) return undefined;
      const { rows } = await db.query<{ ends: Date | string }>(ENDS, [key]);
      return rows[0] ? new Date(rows[0].ends) : new Date();
    },
    async giveBack(keys) {
      await db.query(GIVE_BACK, [keys]);
      await db.query(REMOVE_EMPTY, [keys]);
    },
    async removeEnded(share) {
      await db.query(REMOVE_ENDED, [share]);
    },
  };
}
