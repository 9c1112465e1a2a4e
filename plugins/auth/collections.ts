import type { SystemCollection } from '../schema/contract.ts';

const clientField = (field: string) => ({ field, type: 'string', maxLength: 255, nullable: true }) as const;

/** Wrong passwords and codes since the last completed sign-in, and those that are being checked now. */
export const signInAttemptsCollection: SystemCollection = {
  collection: 'platform_sign_in_attempts',
  note: 'How often users failed to sign in',
  internal: true,
  fields: [
    { field: 'user', type: 'uuid', primary: true, references: { collection: 'platform_users', onDelete: 'CASCADE' } },
    { field: 'failures', type: 'integer', default: '0' },
    { field: 'pending', type: 'integer', default: '0' },
    { field: 'at', type: 'timestamp' },
  ],
};

export const sessionsCollection: SystemCollection = {
  collection: 'platform_sessions',
  note: 'Who is signed in',
  internal: 'listed',
  indexes: [['share']],
  fields: [
    // A hash, so that a reader of this table cannot use the sessions.
    { field: 'token', type: 'string', maxLength: 64, primary: true },
    // The same for the whole life of a session, whose token changes with each refresh. Not a secret.
    { field: 'id', type: 'uuid', default: 'gen_random_uuid()' },
    { field: 'user', type: 'uuid', nullable: true, references: { collection: 'platform_users', onDelete: 'CASCADE' } },
    { field: 'share', type: 'uuid', nullable: true },
    { field: 'expires', type: 'timestamp' },
    clientField('ip'),
    clientField('user_agent'),
    clientField('origin'),
    // Null for sessions that an earlier version opened.
    { field: 'created', type: 'timestamp', nullable: true },
    { field: 'last_used', type: 'timestamp', nullable: true },
  ],
};

/** Refresh tokens that were exchanged for others, with REFRESH_TOKEN_REUSE=revoke, until the day they would have expired. */
export const spentTokensCollection: SystemCollection = {
  collection: 'platform_spent_tokens',
  note: 'Refresh tokens whose use ends their session',
  internal: true,
  fields: [
    { field: 'token', type: 'string', maxLength: 64, primary: true },
    { field: 'session', type: 'uuid' },
    { field: 'user', type: 'uuid', references: { collection: 'platform_users', onDelete: 'CASCADE' } },
    { field: 'expires', type: 'timestamp' },
  ],
  indexes: [['session', 'expires'], ['expires']],
};

/** Secrets that all processes on one database share. Never in the API; only this plugin has a grant of the table. */
export const sharedSecretsCollection: SystemCollection = {
  collection: 'platform_secrets',
  note: 'What access tokens are signed with',
  internal: true,
  fields: [
    { field: 'name', type: 'string', maxLength: 64, primary: true },
    { field: 'value', type: 'text' },
    { field: 'since', type: 'timestamp', default: 'now()' },
  ],
};
