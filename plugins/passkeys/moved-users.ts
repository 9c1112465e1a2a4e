import type { EventsApi } from '#kernel';
import type { Db } from '../database/contract.ts';
import { passkeyStatements } from './statements.ts';

/**
 * Deletes the passkeys of users whom a write gives to another provider, in the unit of work of that write: they prove the user of the
 * earlier provider. Also where passkeys are off, since they may be on again later.
 */
export function deletePasskeysOfMovedUsers({ db, events }: { readonly db: Db; readonly events: EventsApi }): void {
  const { DELETE_OF_MOVED } = passkeyStatements(db);
  events.onFilter('users.update', async (payload, { keys }) => {
    const { provider } = payload as { readonly provider?: string | null };
    if (provider !== undefined) await db.query(DELETE_OF_MOVED, [keys, provider]);
    return undefined;
  });
}
