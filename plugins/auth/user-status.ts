import { fail } from '#kernel';
import type { InterProcessBus } from '../cluster/contract.ts';
import { createAnnouncedCache, createChangeNotificationMigration } from '../cluster/library.ts';
import type { Db, Migration } from '../database/contract.ts';
import { USER_STATUS_CHANGED_CHANNEL } from './contract.ts';

const MAX_CACHED_USERS = 20_000;

/** Checks that the owner of an access token is still active. */
export interface ActiveUserCheck {
  /** @throws INVALID_CREDENTIALS for a deleted user, USER_SUSPENDED for one that is not active. */
  assertActive(user: string): Promise<void>;
  forget(): void;
}

/** Caches active users only, until the status of any user changes in any process. */
export function createActiveUserCheck(db: Db, bus: InterProcessBus): ActiveUserCheck {
  const STATUS = db.sql`select pg_current_xact_id_if_assigned() is not null as writing, u.status
    from ${db.read('platform_users')} u where u.id = $1`;

  async function readStatus(user: string) {
    const { rows } = await db.query<{ writing: boolean; status: string }>(STATUS, [user], { name: 'auth_user_status' });
    const [row] = rows;
    if (!row) throw fail('INVALID_CREDENTIALS', 'the user is gone');
    if (row.status !== 'active') throw fail('USER_SUSPENDED', `the user is ${row.status}`);
    // What an open transaction has written may still be rolled back, and then nothing is announced.
    return { value: undefined, cacheable: !row.writing };
  }

  const active = createAnnouncedCache<void>({
    bus,
    channel: USER_STATUS_CHANGED_CHANNEL,
    max: MAX_CACHED_USERS,
    read: readStatus,
  });
  return { assertActive: active.get, forget: () => active.forget() };
}

/** Trigger that notifies every process when the status, token or role of a user changes, by this service or by SQL. */
export const userStatusTriggers = (db: Db): Migration =>
  createChangeNotificationMigration({
    id: '2026-11-23-announce-user-status',
    replaces: {
      ids: ['2026-11-21-announce-standing', '2026-11-23-announce-token-owners'],
      name: 'platform_standing_changed',
    },
    name: 'platform_user_status_changed',
    channel: USER_STATUS_CHANGED_CHANNEL,
    tables: [db.watch('platform_users')],
    on: db.sql`update of status, token, role or delete or truncate`,
  });
