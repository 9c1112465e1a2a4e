/** Encryption by a key other than SECRETS_ENCRYPTION_KEY, in the same form: for plugins that keep a key of their own. */
export { createMasterKey } from './master-key.ts';
export { createSecretCipher } from './secret-cipher.ts';
