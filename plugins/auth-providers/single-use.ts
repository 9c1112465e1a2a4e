import { createHash } from 'node:crypto';
import type { Db } from '../database/contract.ts';

/** True for the first use of an id in all processes, until `lifetime` milliseconds have passed. */
export type UseOnce = (provider: string, id: string, lifetime: number) => Promise<boolean>;

/** Rows that one use deletes after their expiry: more than it adds, so that the table does not grow. */
const DELETED_AT_A_TIME = 20;

/** One statement decides, so that of several processes with one id one wins. */
export function createUseOnce(db: Db): UseOnce {
  const used = db.own('platform_used_sign_ins');
  const USE = db.sql`with old as (
      delete from ${used} where id in (
        select id from ${used} where expires < now() and id <> $1 limit ${db.literal(String(DELETED_AT_A_TIME))}::integer
        for update skip locked)
    )
    insert into ${used} (id, expires) values ($1, now() + $2 * interval '1 millisecond')
    on conflict (id) do nothing returning 1`;

  return async (provider, id, lifetime) => {
    const hash = createHash('sha256')
      .update(JSON.stringify([provider, id]))
      .digest('hex');
    return (await db.query(USE, [hash, lifetime])).count === 1;
  };
}
