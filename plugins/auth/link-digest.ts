import { createHash } from 'node:crypto';

/**
 * A digest of columns of a user for the claims of a link token, such as the hash of the password and the e-mail address: once one of
 * them changes, the token no longer fits. The holder of the token cannot read the values from it.
 */
export const digestForLink = (values: readonly (string | null)[]): string =>
  createHash('sha256').update(JSON.stringify(values)).digest('base64url');
