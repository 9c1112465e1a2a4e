import { type Caller, fail } from '#kernel';
import type { AccessLevel } from './endpoint-capability.ts';

/** Refuses before anything of the endpoint runs (conventions, "endpoint.access"): 401 without a user, 403 short of the level. */
export function assertAccess(level: AccessLevel, caller: Caller): void {
  if (level === 'public') return;
  // A share is no user, whoever made it.
  if (caller.user === null || caller.share) throw fail('INVALID_CREDENTIALS', 'the endpoint is for signed-in users');
  const isAllowed = level === 'authenticated' || caller.admin || (level === 'app' && caller.app);
  if (!isAllowed) throw fail('FORBIDDEN', `the endpoint is for ${level} users`);
}
