import { type Caller, fail } from '#kernel';
import type { HistoryRecorder } from '../activity/contract.ts';
import type { Db } from '../database/contract.ts';
import { createRecoveryCodes } from './recovery-codes.ts';
import type { SecondFactorStore } from './second-factors.ts';

interface Deps {
  readonly db: Pick<Db, 'transaction'>;
  readonly store: Pick<SecondFactorStore, 'enroll' | 'remove' | 'replaceRecoveryCodes'>;
  readonly activity: Pick<HistoryRecorder, 'record'>;
}

/** Changes of second factors. Each one and its row of activity exist together or not at all; no secret is in that row. */
export interface SecondFactorChanges {
  /** @throws INVALID_PAYLOAD where it is on already, or another secret was offered meanwhile. */
  turnOn(caller: Caller, user: string, secret: string, envelope: string, step: number): Promise<void>;
  /** False where it was off. */
  turnOff(caller: Caller, user: string): Promise<boolean>;
  /** New recovery codes in place of all others. @throws INVALID_PAYLOAD where the second factor is off. */
  renewRecoveryCodes(caller: Caller, user: string): Promise<readonly string[]>;
}

export function createSecondFactorChanges({ db, store, activity }: Deps): SecondFactorChanges {
  /** Records the change in the unit of work that makes it. */
  const recorded = (caller: Caller, user: string, action: string, change: () => Promise<boolean>): Promise<boolean> =>
    db.transaction(async () => {
      const isChanged = await change();
      if (isChanged) await activity.record(caller, { action, collection: 'platform_users', item: user });
      return isChanged;
    });

  return {
    async turnOn(caller, user, secret, envelope, step) {
      if (!(await recorded(caller, user, 'tfa-enable', () => store.enroll(user, secret, envelope, step))))
        throw fail('INVALID_PAYLOAD', 'Two-factor sign-in is on already, or another secret was generated meanwhile.');
    },

    turnOff: (caller, user) => recorded(caller, user, 'tfa-disable', () => store.remove(user)),

    async renewRecoveryCodes(caller, user) {
      const codes = createRecoveryCodes();
      const replace = () => store.replaceRecoveryCodes(user, codes);
      if (!(await recorded(caller, user, 'tfa-recovery-codes', replace)))
        throw fail('INVALID_PAYLOAD', 'Two-factor sign-in is off.');
      return codes;
    },
  };
}
