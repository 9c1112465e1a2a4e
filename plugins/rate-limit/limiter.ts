import { LRUCache } from 'lru-cache';
import type { RateLimit } from './contract.ts';
import type { PointsInWindow, PointsStore } from './stores/points-store.ts';

/** What a limiter says of one request. */
export interface LimitVerdict {
  readonly isExceeded: boolean;
  /** Points of a window. */
  readonly limit: number;
  /** Points that are left in the window. */
  readonly remaining: number;
  /** Milliseconds until the window ends. */
  readonly resetIn: number;
}

export interface RateLimiter {
  /** Counts a request of this key. */
  take(key: string): Promise<LimitVerdict>;
  /** Counts further points of a request that was let through. */
  charge(key: string, points: number): Promise<LimitVerdict>;
  /** Requests over the limit so far. */
  readonly counts: { readonly refused: number };
}

/** Keys over their limit that one limiter remembers. */
const MOST_EXCEEDED_KEYS = 10_000;

/**
 * Compares the points of a key with its limit. A key over its limit is remembered until its window ends, so that a client that
 * goes on sending causes no traffic to the store.
 */
export function createRateLimiter({ points }: RateLimit, store: PointsStore): RateLimiter {
  const counts = { refused: 0 };
  /** When the windows of exceeded keys end, by `performance.now()`. */
  const exceeded = new LRUCache<string, number>({ max: MOST_EXCEEDED_KEYS });

  function judge(key: string, { used, resetIn }: PointsInWindow): LimitVerdict {
    const isExceeded = used > points;
    if (isExceeded) exceeded.set(key, performance.now() + resetIn);
    return { isExceeded, limit: points, remaining: Math.max(0, points - used), resetIn };
  }

  return {
    async take(key) {
      const end = exceeded.get(key);
      if (end !== undefined) {
        const resetIn = Math.ceil(end - performance.now());
        if (resetIn > 0) {
          counts.refused++;
          return { isExceeded: true, limit: points, remaining: 0, resetIn };
        }
        exceeded.delete(key);
      }
      const verdict = judge(key, await store.add(key, 1));
      if (verdict.isExceeded) counts.refused++;
      return verdict;
    },
    counts,
    charge: async (key, charged) => judge(key, await store.add(key, charged)),
  };
}
