import type { SystemCollection } from '../schema/contract.ts';

export const PASSKEYS_COLLECTION = 'platform_passkeys';

/** Passkeys of users: what a sign-in is verified by. The private key never leaves the device of the user. */
export const passkeysCollection: SystemCollection = {
  collection: PASSKEYS_COLLECTION,
  note: 'What users sign in by without a password',
  internal: 'listed',
  fields: [
    { field: 'id', type: 'uuid', primary: true },
    { field: 'user', type: 'uuid', references: { collection: 'platform_users', onDelete: 'CASCADE' } },
    { field: 'name', type: 'string', maxLength: 100 },
    // Base64url: an id has at most 1,023 bytes.
    { field: 'credential', type: 'string', maxLength: 1364, unique: true },
    // The public key in the form of COSE, as base64url.
    { field: 'public_key', type: 'text' },
    { field: 'counter', type: 'bigInteger', default: '0' },
    { field: 'transports', type: 'json', default: "'[]'" },
    { field: 'synced', type: 'boolean', default: 'false' },
    { field: 'backed_up', type: 'boolean', default: 'false' },
    { field: 'date_created', type: 'timestamp', default: 'now()' },
    { field: 'last_used', type: 'timestamp', nullable: true },
  ],
};

/** Challenges that a valid response has used up, until they would be too old in any case. */
export const spentChallengesCollection: SystemCollection = {
  collection: 'platform_passkey_challenges',
  note: 'Challenges of passkeys that cannot be used again',
  internal: true,
  fields: [
    { field: 'id', type: 'string', maxLength: 32, primary: true },
    { field: 'expires', type: 'timestamp' },
  ],
  indexes: [['expires']],
};
