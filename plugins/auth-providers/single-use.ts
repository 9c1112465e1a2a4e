import { createHash } from 'node:crypto';
import type { Db } from '../database/contract.ts';

/** Uses of ids that count once over all processes. */
export interface SingleUse {
  /** True for the first use of an id, until `lifetime` milliseconds have passed. */
  use(provider: string, id: string, lifetime: number): Promise<boolean>;
  /** Undoes a use that came to nothing. */
  release(provider: string, id: string): Promise<void>;
}

/** Rows that one use deletes after their expiry: more than it adds, so that the table does not grow. */
const DELETED_AT_A_TIME = 20;

/** One statement decides, so that of several processes with one id one wins. */
export function createSingleUse(db: Db): SingleUse {
  const used = db.own('platform_used_sign_ins');
  const USE = db.sql`with old as (
      delete from ${used} where id in (
        select id from ${used} where expires < now() and id <> $1 limit ${db.literal(String(DELETED_AT_A_TIME))}::integer
        for update skip locked)
    )
    insert into ${used} (id, expires) values ($1, now() + $2 * interval '1 millisecond')
    on conflict (id) do nothing returning 1`;

  const RELEASE = db.sql`delete from ${used} where id = $1`;
  const hashOf = (provider: string, id: string) =>
    createHash('sha256')
      .update(JSON.stringify([provider, id]))
      .digest('hex');

  return {
    use: async (provider, id, lifetime) => (await db.query(USE, [hashOf(provider, id), lifetime])).count === 1,
    async release(provider, id) {
      await db.query(RELEASE, [hashOf(provider, id)]);
    },
  };
}
