import { type Caller, fail } from '#kernel';

export const USERS = 'platform_users';

/** The caller's own key; INVALID_CREDENTIALS for those who are nobody. */
export function signedIn({ user }: Caller): string {
  if (user === null) throw fail('INVALID_CREDENTIALS', 'nobody is signed in');
  return user;
}
