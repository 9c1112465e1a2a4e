import type { SystemCollection } from '../schema/contract.ts';

/** Registered users whose e-mail address is not confirmed yet, until when they may confirm it, and the mails that they were sent. */
export const registrationsCollection: SystemCollection = {
  collection: 'platform_registrations',
  note: 'Registrations that wait for their confirmation',
  internal: true,
  fields: [
    { field: 'user', type: 'uuid', primary: true, references: { collection: 'platform_users', onDelete: 'CASCADE' } },
    { field: 'expires', type: 'timestamp' },
    // Mails since the time `since`, at which an hour began.
    { field: 'sent', type: 'integer' },
    { field: 'since', type: 'timestamp' },
    { field: 'last', type: 'timestamp' },
  ],
};
