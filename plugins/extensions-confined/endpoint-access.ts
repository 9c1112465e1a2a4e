import { type Caller, fail } from '#kernel';
import type { EndpointAccessLevel } from './endpoint-capability.ts';

/**
 * Checks the caller before the endpoint's code runs (conventions, "endpoint.access").
 * @throws INVALID_CREDENTIALS (401) without a user, FORBIDDEN (403) below the access level.
 */
export function assertEndpointAccess(level: EndpointAccessLevel, caller: Caller): void {
  if (level === 'public') return;
  // A share is not a user, even if a user created it.
  if (caller.user === null || caller.share) throw fail('INVALID_CREDENTIALS', 'the endpoint is for signed-in users');
  const isAllowed = level === 'authenticated' || caller.admin || (level === 'app' && caller.app);
  if (!isAllowed) throw fail('FORBIDDEN', `the endpoint is for ${level} users`);
}
