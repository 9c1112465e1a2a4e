import { messageText, NOTIFY_CHANNEL } from '../../cluster/contract.ts';

/** The bus channel on which a change of roles or permissions is announced. */
export const CHANGED = 'access.changed';

/** The statement by which a trigger in the database announces it. */
export const ANNOUNCE = `perform pg_notify('${NOTIFY_CHANNEL}', '${messageText(CHANGED, null)}')`;
