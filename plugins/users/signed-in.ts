import { type Caller, fail } from '#kernel';

export const USERS = 'platform_users';

/** The caller's own key; INVALID_CREDENTIALS for those who are nobody. */
export function signedIn({ user }: Caller): string {
  if (user === null) throw fail('INVALID_CREDENTIALS', 'nobody is signed in');
  return user;
}

/** The caller, who came with a token: of a user or of a share. @throws FORBIDDEN */
export function assertKnown(caller: Caller): Caller {
  if (caller.user === null && !caller.share) throw fail('FORBIDDEN', 'nobody is signed in');
  return caller;
}
