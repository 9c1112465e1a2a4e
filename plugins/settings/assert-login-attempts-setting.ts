import { fail } from '#kernel';

const FIELD = 'auth_login_attempts';

/** Validates `auth_login_attempts`: with less than one attempt no user could sign in. @throws INVALID_PAYLOAD */
export function assertLoginAttemptsSetting(value: unknown): void {
  // A value that is no number is refused by the items plugin, like that of any integer field.
  if (value !== undefined && value !== null && Number(value) < 1)
    throw fail('INVALID_PAYLOAD', `"${FIELD}" must be 1 or more, or null for no limit.`, {
      field: FIELD,
      path: [FIELD],
    });
}
