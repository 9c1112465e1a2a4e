import { fail } from '#kernel';
import type { HttpContext } from '../http/contract.ts';
import { clientAddressOf } from '../http/library.ts';
import { toClientNetworkKey } from '../outbound/library.ts';
import { createFairSemaphore } from '../workers/library.ts';

/** Milliseconds. Each request holds a connection to the database. */
const LIMITS = { limit: 4, limitOfKey: 2, deadline: 10_000 } as const;
/** Seconds of `Retry-After`. */
const RETRY_AFTER = 2;

/** How many requests may wait for a place. */
export interface RequestQueueLimits {
  readonly queue: number;
  /** Of one client network. */
  readonly queueOfKey: number;
}

/** For requests that set a password, which takes a while to be hashed. */
export const PASSWORD_CHANGE_QUEUE: RequestQueueLimits = { queue: 64, queueOfKey: 8 };

/** Runs the work of a request in a place. @throws SERVICE_UNAVAILABLE where too many wait, or for too long */
export type RunInPlace = <T>(ctx: HttpContext, work: () => Promise<T>) => Promise<T>;

/**
 * Creates the places for requests of clients without a user that look up or change accounts: few at a time, shared fairly between
 * client networks.
 */
export function createRequestPlaces(queue: RequestQueueLimits): RunInPlace {
  const places = createFairSemaphore({
    ...LIMITS,
    ...queue,
    refuse: () =>
      fail('SERVICE_UNAVAILABLE', `Too many such requests at a time. Try again in ${RETRY_AFTER} seconds.`, {
        retryAfter: RETRY_AFTER,
      }),
  });
  return (ctx, work) => places.run(toClientNetworkKey(clientAddressOf(ctx)), work);
}
