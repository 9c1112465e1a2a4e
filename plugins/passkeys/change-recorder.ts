import type { Caller } from '#kernel';
import type { HistoryRecorder } from '../activity/contract.ts';
import { PASSKEYS_COLLECTION } from './collections.ts';
import type { PasskeyNotices } from './notices.ts';

/** Records a change of a passkey in the activity, and mails it to the user unless it is of the name alone. In the open unit of work. */
export type PasskeyChangeRecorder = (
  caller: Caller,
  action: 'create' | 'update' | 'delete',
  user: string,
  passkey: { readonly id: string; readonly name: string },
) => Promise<void>;

interface Deps {
  readonly activity: Pick<HistoryRecorder, 'record'>;
  readonly notices: PasskeyNotices;
}

export const createPasskeyChangeRecorder =
  ({ activity, notices }: Deps): PasskeyChangeRecorder =>
  async (caller, action, user, { id, name }) => {
    await activity.record(caller, { action, collection: PASSKEYS_COLLECTION, item: id, comment: `of user ${user}` });
    if (action !== 'update') await notices.send(user, action === 'create' ? 'added' : 'removed', name);
  };
