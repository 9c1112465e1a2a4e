import { LRUCache } from 'lru-cache';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { PointsStore } from './points-store.ts';

/** Keys that one limiter remembers: about 25 MB. */
export const MOST_KEYS_IN_MEMORY = 50_000;

/**
 * Counts in this process. With one key more the key that sent nothing for the longest time is forgotten, so that a client with any
 * number of addresses fills no memory. It gains nothing: a client that can do so has as many addresses without points.
 */
export function createMemoryStore(
  { points, duration }: { readonly points: number; readonly duration: number },
  most = MOST_KEYS_IN_MEMORY,
): PointsStore {
  const limiter = new RateLimiterMemory({ points, duration, keyPrefix: '' });
  const known = new LRUCache<string, true>({
    max: most,
    dispose(_value, key, reason) {
      if (reason === 'evict') void limiter.delete(key);
    },
  });
  return {
    async add(key, added) {
      known.set(key, true);
      const { consumedPoints, msBeforeNext } = await limiter.penalty(key, added);
      return { used: consumedPoints, resetIn: msBeforeNext };
    },
  };
}
