import { fail } from '#kernel';
import type { HttpContext } from '../http/contract.ts';
import { clientAddressOf } from '../http/library.ts';
import { toClientNetworkKey } from '../outbound/library.ts';
import { createFairSemaphore } from '../workers/library.ts';

/** Each holds a connection to the database while a password is hashed. Milliseconds. */
const LIMITS = { limit: 4, limitOfKey: 2, queue: 64, queueOfKey: 8, deadline: 10_000 } as const;
/** Seconds of `Retry-After`. */
const RETRY_AFTER = 2;

/**
 * Creates the places for requests without a user that set a password, such as by a link: few at a time, shared fairly between client
 * networks. Further requests wait, and are SERVICE_UNAVAILABLE where too many do or for too long.
 */
export function createPasswordChangePlaces(): <T>(ctx: HttpContext, work: () => Promise<T>) => Promise<T> {
  const places = createFairSemaphore({
    ...LIMITS,
    refuse: () =>
      fail('SERVICE_UNAVAILABLE', `Too many passwords are set at a time. Try again in ${RETRY_AFTER} seconds.`, {
        retryAfter: RETRY_AFTER,
      }),
  });
  return (ctx, work) => places.run(toClientNetworkKey(clientAddressOf(ctx)), work);
}
