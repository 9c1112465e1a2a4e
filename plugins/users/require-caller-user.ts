import { type Caller, fail } from '#kernel';

export const USERS_COLLECTION = 'platform_users';

/** The key of the caller's user. @throws INVALID_CREDENTIALS for a caller without a user */
export function requireCallerUser({ user }: Caller): string {
  if (user === null) throw fail('INVALID_CREDENTIALS', 'the request has no user');
  return user;
}

/** Answers the caller, if identified by the token of a user or a share. @throws FORBIDDEN for every other caller */
export function assertUserOrShare(caller: Caller): Caller {
  if (caller.user === null && !caller.share) throw fail('FORBIDDEN', 'the request has no user');
  return caller;
}
