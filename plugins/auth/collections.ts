import type { SystemCollection } from '../schema/contract.ts';

const clientField = (field: string) => ({ field, type: 'string', maxLength: 255, nullable: true }) as const;

/** Failed sign-ins by password since the last success, and those that are being checked now. */
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
    { field: 'user', type: 'uuid', nullable: true, references: { collection: 'platform_users', onDelete: 'CASCADE' } },
    { field: 'share', type: 'uuid', nullable: true },
    { field: 'expires', type: 'timestamp' },
    clientField('ip'),
    clientField('user_agent'),
    clientField('origin'),
  ],
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
