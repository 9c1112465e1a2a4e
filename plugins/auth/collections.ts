import type { SystemCollection } from '../schema/contract.ts';

const about = (field: string) => ({ field, type: 'string', maxLength: 255, nullable: true }) as const;

/** Sign-ins by password that failed since the last one that did not, and those that are being checked at this moment. */
export const attempts: SystemCollection = {
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

export const sessions: SystemCollection = {
  collection: 'platform_sessions',
  note: 'Who is signed in',
  internal: 'listed',
  fields: [
    // A hash: whoever reads this table cannot act for anybody.
    { field: 'token', type: 'string', maxLength: 64, primary: true },
    { field: 'user', type: 'uuid', nullable: true, references: { collection: 'platform_users', onDelete: 'CASCADE' } },
    { field: 'share', type: 'uuid', nullable: true },
    { field: 'expires', type: 'timestamp' },
    about('ip'),
    about('user_agent'),
    about('origin'),
  ],
};

/** What processes on one database agree on. Never in the API; the plugin alone has a grant of the table. */
export const agreedSecrets: SystemCollection = {
  collection: 'platform_secrets',
  note: 'What access tokens are signed with',
  internal: true,
  fields: [
    { field: 'name', type: 'string', maxLength: 64, primary: true },
    { field: 'value', type: 'text' },
    { field: 'since', type: 'timestamp', default: 'now()' },
  ],
};
