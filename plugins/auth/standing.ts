import { fail } from '#kernel';
import type { Bus } from '../cluster/contract.ts';
import { announcing, createAnnouncedCache } from '../cluster/library.ts';
import type { Db, Migration } from '../database/contract.ts';

/** The bus channel on which a change of a user's status, token or role is announced. */
export const STANDING_CHANGED = 'auth.standing';
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

  const active = createAnnouncedCache<void>({ bus, channel: STANDING_CHANGED, max: REMEMBERED, read: readStatus });
  return { check: active.get, forget: () => active.forget() };
}

const ANNOUNCEMENT = { name: 'platform_standing_changed', channel: STANDING_CHANGED } as const;

/** Tells every process when a status, token or role of a user changes, by this service or by hand. */
export const announceStanding = (db: Db): readonly Migration[] => [
  announcing({
    ...ANNOUNCEMENT,
    id: '2026-11-21-announce-standing',
    tables: [db.watch('platform_users')],
    on: db.sql`update of status or delete or truncate`,
  }),
  announcing({
    ...ANNOUNCEMENT,
    id: '2026-11-23-announce-token-owners',
    tables: [db.watch('platform_users')],
    on: db.sql`update of status, token, role or delete or truncate`,
  }),
];
