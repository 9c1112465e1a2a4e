import { fail } from '#kernel';
import type { Bus } from '../cluster/contract.ts';
import { announcing, createAnnouncedCache } from '../cluster/library.ts';
import type { Db, Migration } from '../database/contract.ts';

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
  const STATUS = db.sql`select status from ${db.read('platform_users')} where id = $1`;

  async function readStatus(user: string) {
    const { rows } = await db.query<{ status: string }>(STATUS, [user], { name: 'auth_standing' });
    const status = rows[0]?.status;
    if (status === undefined) throw fail('INVALID_CREDENTIALS', 'the user is gone');
    if (status !== 'active') throw fail('USER_SUSPENDED', `the user is ${status}`);
    return { value: undefined, settled: true };
  }

  const active = createAnnouncedCache<void>({ bus, channel: CHANGED, max: REMEMBERED, read: readStatus });
  return { check: active.get, forget: () => active.forget() };
}

/** Tells every process when a status changes, whoever changes it. */
export const announceStanding = (db: Db): Migration =>
  announcing({
    id: '2026-11-21-announce-standing',
    name: 'platform_standing_changed',
    channel: CHANGED,
    tables: [db.watch('platform_users')],
    on: db.sql`update of status or delete or truncate`,
  });
