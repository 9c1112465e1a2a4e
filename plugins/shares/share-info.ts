import { fail } from '#kernel';
import { CONCEALED_VALUE_MASK } from '../access/contract.ts';
import type { Db } from '../database/contract.ts';

import { SHARES_COLLECTION } from './collections.ts';
import { isShareKey } from './share-key.ts';

/** What everybody who has the link may know of a share. */
export interface ShareInfo {
  readonly id: string;
  readonly collection: string;
  readonly item: string;
  /** The mask where a password is needed, else null. */
  readonly password: string | null;
  readonly max_uses: number | null;
  readonly times_used: number;
  readonly date_start: string | null;
  readonly date_end: string | null;
}

/** @throws FORBIDDEN for a share that does not exist, has not begun, or is over */
export type ReadShareInfo = (share: string) => Promise<ShareInfo>;

export function createReadShareInfo(db: Db): ReadShareInfo {
  const INFO = db.sql`select id, collection, item, password is not null as "hasPassword", max_uses, times_used, date_start, date_end
    from ${db.read(SHARES_COLLECTION)} where id = $1
      and (date_start is null or date_start <= now()) and (date_end is null or date_end > now())`;

  return async (share) => {
    const found = isShareKey(share)
      ? (await db.query<Omit<ShareInfo, 'password'> & { hasPassword: boolean }>(INFO, [share])).rows[0]
      : undefined;
    if (!found) throw fail('FORBIDDEN', 'there is no such share, or it is not in force');
    const { id, collection, item, hasPassword, max_uses, times_used, date_start, date_end } = found;
    const password = hasPassword ? CONCEALED_VALUE_MASK : null;
    return {
      ...{ id, collection, item, password, max_uses, times_used },
      date_start: isoTextOf(date_start),
      date_end: isoTextOf(date_end),
    };
  };
}

const isoTextOf = (date: string | Date | null): string | null => (date === null ? null : new Date(date).toISOString());
