import { service } from '#kernel';

/** The rules for a new password. */
export interface PasswordPolicy {
  /**
   * Asserts that a password may be set. Every write of a user asserts it again; a plugin asserts it before where the answer must not
   * depend on whether there is such a user.
   * @throws INVALID_PAYLOAD for an empty text and for the mask of concealed values; Failures of FAILED_VALIDATION where it does not match
   * the setting `auth_password_policy`, which do not repeat the password.
   */
  assert(password: string): Promise<void>;
}

/** For plugins that set passwords of users. */
export const passwordPolicy = service<PasswordPolicy>('password-policy', { version: '1.0.0' });
