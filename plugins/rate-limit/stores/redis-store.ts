import { RateLimiterRedis } from 'rate-limiter-flexible';
import type { RedisClient } from '../../redis/contract.ts';
import type { PointsStore } from './points-store.ts';

/** Counts in Redis, by one script a request: its keys end with their windows. */
export function createRedisStore(
  client: RedisClient,
  { name, points, duration }: { readonly name: string; readonly points: number; readonly duration: number },
): PointsStore {
  const limiter = new RateLimiterRedis({ storeClient: client, points, duration, keyPrefix: `rate-limit:${name}` });
  return {
    async add(key, added) {
      const { consumedPoints, msBeforeNext } = await limiter.penalty(key, added);
      return { used: consumedPoints, resetIn: msBeforeNext };
    },
  };
}
