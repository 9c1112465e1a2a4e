import { LRUCache } from 'lru-cache';
import { fail } from '#kernel';
import { announcing, type Bus } from '../cluster/contract.ts';
import type { Db } from '../database/contract.ts';
import { table } from './tables.ts';

const CHANGED = 'auth.standing';
const REMEMBERED = 20_000;

/** Whether a user may go on using his access tokens. */
export interface Standing {
  /** Throws for users who are not active any more. */
  check(user: string): Promise<void>;
  forget(): void;
}

/** Only active users are remembered, and only until some user's status changes anywhere. */
export function createStanding(db: Db, bus: Bus): Standing {
  let active = new LRUCache<string, true>({ max: REMEMBERED });
  const forget = () => {
    active = new LRUCache({ max: REMEMBERED });
  };
  bus.subscribe(CHANGED, forget);
  bus.onGap(forget);

  async function ask(user: string): Promise<void> {
    // What is found out now is worth nothing once somebody says "changed" in between.
    const asked = active;
    const { rows } = await db.query<{ status: string }>(
      `select status from ${table(db, 'users')} where id = $1`,
      [user],
      { name: 'auth_standing' },
    );
    const status = rows[0]?.status;
    if (status === undefined) throw fail('INVALID_CREDENTIALS', 'the user is gone');
    if (status !== 'active') throw fail('USER_SUSPENDED', `the user is ${status}`);
    asked.set(user, true);
  }

  return {
    async check(user) {
      if (!active.get(user)) await ask(user);
    },
    forget,
  };
}

/** Tells every process when a status changes, whoever changes it. */
export const announceStanding = announcing({
  id: '2026-11-21-announce-standing',
  name: 'platform_standing_changed',
  channel: CHANGED,
  tables: ['platform_users'],
  on: 'update of status or delete or truncate',
});
