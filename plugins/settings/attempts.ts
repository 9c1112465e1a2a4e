import { fail } from '#kernel';

const FIELD = 'auth_login_attempts';

/** No user could sign in at all with less than one attempt. */
export function checkAttempts(value: unknown): void {
  // What is no number is refused like that of any other field.
  if (value !== undefined && value !== null && Number(value) < 1)
    throw fail('INVALID_PAYLOAD', `"${FIELD}" must be 1 or more, or null for no limit.`, {
      field: FIELD,
      path: [FIELD],
    });
}
