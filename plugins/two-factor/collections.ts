import type { SystemCollection } from '../schema/contract.ts';

export const SECOND_FACTORS = 'platform_second_factors';
export const RECOVERY_CODES = 'platform_recovery_codes';
export const SECOND_FACTOR_KEYS = 'platform_second_factor_keys';

/**
 * One row of a user: the secret that was offered last, as a hash, until it is enrolled; then the enrolled secret, encrypted. That a
 * second factor is on is said by `platform_users.tfa_secret` alone.
 */
const secondFactorsCollection: SystemCollection = {
  collection: SECOND_FACTORS,
  note: 'Second factors of users, encrypted',
  internal: true,
  fields: [
    { field: 'user', type: 'uuid', primary: true, references: { collection: 'platform_users', onDelete: 'CASCADE' } },
    { field: 'offer', type: 'string', maxLength: 64, nullable: true },
    { field: 'offered_at', type: 'timestamp', nullable: true },
    { field: 'secret', type: 'text', nullable: true },
    // Another one with each enrolment, so that a code of an earlier secret uses up nothing.
    { field: 'enrollment', type: 'uuid', nullable: true },
    // The time step of the last code that was used: no code of this step or an earlier one is accepted again.
    { field: 'last_step', type: 'bigInteger', default: '0' },
    { field: 'enabled_at', type: 'timestamp', nullable: true },
  ],
};

/** Unused recovery codes, as hashes. A code that is used is deleted, and so are all codes with the second factor. */
const recoveryCodesCollection: SystemCollection = {
  collection: RECOVERY_CODES,
  note: 'Recovery codes of users, as hashes',
  internal: true,
  fields: [
    { field: 'code', type: 'string', maxLength: 64, primary: true },
    { field: 'user', type: 'uuid', references: { collection: SECOND_FACTORS, onDelete: 'CASCADE' } },
  ],
  indexes: [['user']],
};

/** The key of secrets where SECRETS_ENCRYPTION_KEY is not set. Never in the API; only this plugin has a grant of the table. */
const keysCollection: SystemCollection = {
  collection: SECOND_FACTOR_KEYS,
  note: 'What second factors are encrypted with',
  internal: true,
  fields: [
    { field: 'name', type: 'string', maxLength: 64, primary: true },
    { field: 'value', type: 'text' },
    { field: 'since', type: 'timestamp', default: 'now()' },
  ],
};

export const twoFactorCollections = [secondFactorsCollection, recoveryCodesCollection, keysCollection] as const;
