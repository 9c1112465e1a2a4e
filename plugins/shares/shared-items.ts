import type { SharedItem, SharedItemLookup } from '../access/contract.ts';
import type { InterProcessBus } from '../cluster/contract.ts';
import { createAnnouncedCache } from '../cluster/library.ts';
import type { Db } from '../database/contract.ts';

import { SHARES_COLLECTION } from './collections.ts';
import { SHARES_CHANGED_CHANNEL } from './migrations.ts';
import { isShareKey } from './share-key.ts';

const MAX_CACHED_SHARES = 10_000;

interface CachedShare {
  readonly shared: SharedItem;
  /** Milliseconds by the monotonic clock of this process, which may differ from the clock of the database. */
  readonly start: number;
  readonly end: number;
}

interface ShareRow extends SharedItem {
  readonly writing: boolean;
  /** Milliseconds from now; null without a date. */
  readonly start_in: number | null;
  readonly end_in: number | null;
}

/** Finds shares that are in force; each request of a visitor asks, so that rows are cached until one changes in any process. */
export function createSharedItemLookup(db: Db, bus: InterProcessBus): SharedItemLookup & { forget(): void } {
  const FIND = db.sql`select pg_current_xact_id_if_assigned() is not null as writing, s.id, s.role, s.collection, s.item,
      (extract(epoch from s.date_start - now()) * 1000)::float8 as start_in,
      (extract(epoch from s.date_end - now()) * 1000)::float8 as end_in
    from ${db.read(SHARES_COLLECTION)} s where s.id = $1`;

  async function read(share: string) {
    const before = performance.now();
    const { rows } = await db.query<ShareRow>(FIND, [share], { name: 'shares_find' });
    const [row] = rows;
    if (!row) return { value: undefined, cacheable: false };
    const { writing, start_in, end_in, id, role, collection, item } = row;
    const value: CachedShare = {
      shared: { id, role, collection, item },
      start: start_in === null ? 0 : before + Number(start_in),
      end: end_in === null ? Number.POSITIVE_INFINITY : before + Number(end_in),
    };
    // What an open transaction has written may still be rolled back, and then nothing is announced.
    return { value, cacheable: !writing };
  }

  const shares = createAnnouncedCache<CachedShare | undefined>({
    bus,
    channel: SHARES_CHANGED_CHANNEL,
    max: MAX_CACHED_SHARES,
    read,
  });

  return {
    async find(share) {
      if (!isShareKey(share)) return undefined;
      const found = await shares.get(share);
      const now = performance.now();
      return found && found.start <= now && now < found.end ? found.shared : undefined;
    },
    forget: () => shares.forget(),
  };
}
