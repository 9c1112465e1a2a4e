import type { Db, Migration } from '../../database/contract.ts';
import type { PointsStore } from './points-store.ts';

const TABLE = 'platform_rate_limits';

/**
 * The migration that creates the table of counts. It is unlogged: no write waits for the disk, and a crash of PostgreSQL forgets the
 * counts. Half of each page stays free, so that a row is updated in its page and no index changes.
 */
export function createRateLimitsMigration(db: Db): Migration {
  const limits = db.own(TABLE);
  return {
    id: '2026-11-26-rate-limits',
    up: () =>
      db.ddl(
        db.sql`create unlogged table ${limits} (key text primary key, used bigint not null, ends timestamptz not null) with (fillfactor = 50)`,
      ),
  };
}

/** Statements on the table of counts. Windows go by the clock of PostgreSQL, which all processes share. */
export interface PostgresCounts {
  createStore(limiter: { readonly name: string; readonly duration: number }): PointsStore;
  /** Deletes the windows that have ended. */
  removeEnded(): Promise<void>;
}

/** `timeout` in milliseconds: a statement that takes longer is cancelled. */
export function createPostgresCounts(db: Db, timeout: number): PostgresCounts {
  const limits = db.write(TABLE);
  const ADD = db.sql`insert into ${limits} as t (key, used, ends) values ($1, $2, now() + $3::int * interval '1 second')
    on conflict (key) do update set
      used = case when t.ends <= now() then excluded.used else t.used + excluded.used end,
      ends = case when t.ends <= now() then excluded.ends else t.ends end
    returning used, ceil(1000 * extract(epoch from ends - now()))`;
  const REMOVE_ENDED = db.sql`delete from ${limits} where ends < now()`;
  const options = { name: 'rate_limit_add', signal: () => AbortSignal.timeout(timeout) };
  return {
    createStore: ({ name, duration }) => ({
      async add(key, added) {
        const row = await db.first(ADD, [`${name}:${key}`, added, duration], options);
        const [used, resetIn] = row as readonly [string, string];
        return { used: Number(used), resetIn: Math.max(0, Number(resetIn)) };
      },
    }),
    async removeEnded() {
      await db.query(REMOVE_ENDED);
    },
  };
}
