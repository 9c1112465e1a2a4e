import type { SystemCollection } from '../schema/contract.ts';

/** Where sessions came from. Rows are deleted after their expiry. */
export const providerSessionsCollection: SystemCollection = {
  collection: 'platform_provider_sessions',
  note: 'Which sessions of sign-in providers the sessions came from',
  internal: true,
  fields: [
    { field: 'session', type: 'uuid', primary: true },
    { field: 'user', type: 'uuid', references: { collection: 'platform_users', onDelete: 'CASCADE' } },
    // Hashes of provider and name.
    { field: 'subject', type: 'string', maxLength: 64 },
    { field: 'provider_session', type: 'string', maxLength: 64, nullable: true },
    { field: 'expires', type: 'timestamp' },
  ],
  indexes: [['subject'], ['provider_session'], ['expires']],
};

/** What a provider or a browser may present once: states of sign-ins, ids of assertions. Rows are deleted after their expiry. */
export const usedSignInsCollection: SystemCollection = {
  collection: 'platform_used_sign_ins',
  note: 'What may be used once to sign in, and was',
  internal: true,
  fields: [
    // A hash of provider and id.
    { field: 'id', type: 'string', maxLength: 64, primary: true },
    { field: 'expires', type: 'timestamp' },
  ],
};
