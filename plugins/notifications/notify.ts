import type { Caller } from '#kernel';
import type { Db } from '../database/contract.ts';
import type { ItemsEngine } from '../items/contract.ts';
import { NOTIFICATIONS_COLLECTION } from './collections.ts';
import type { NotificationService } from './contract.ts';

interface Deps {
  readonly db: Pick<Db, 'table' | 'transaction'>;
  readonly items: Pick<ItemsEngine, 'createMany'>;
  /** A caller that may write to every user. */
  readonly system: () => Caller;
}

export const createNotificationService = ({ db, items, system: systemCaller }: Deps): NotificationService => ({
  async notify(sender, notices) {
    if (notices.length === 0) return;
    await db.transaction(async () => {
      const keys = await items.createMany(
        systemCaller(),
        NOTIFICATIONS_COLLECTION,
        notices.map((one) => ({ ...one })),
      );
      // The items engine stores the caller as the sender, and the system caller has no user.
      if (sender !== null) await db.table(NOTIFICATIONS_COLLECTION).whereIn('id', keys).update({ sender });
    });
  },
});
