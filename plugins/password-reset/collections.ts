import type { SystemCollection } from '../schema/contract.ts';

/** The mails with a link for a new password that each user was sent lately: one row a user, however many are requested. */
export const passwordRequestsCollection: SystemCollection = {
  collection: 'platform_password_requests',
  note: 'How many links for a new password users were sent',
  internal: true,
  fields: [
    { field: 'user', type: 'uuid', primary: true, references: { collection: 'platform_users', onDelete: 'CASCADE' } },
    // Mails since the time `since`, at which an hour began.
    { field: 'sent', type: 'integer' },
    { field: 'since', type: 'timestamp' },
    { field: 'last', type: 'timestamp' },
  ],
};
