import type { Log } from '#kernel';
import type { RedisConnection } from '../redis/contract.ts';
import { createRateLimiter, type RateLimiter } from './limiter.ts';
import type { EnabledLimiters, LimiterName, LimiterSettings } from './settings.ts';
import { createInsuredStore, withTimeout } from './stores/insured-store.ts';
import { createMemoryStore } from './stores/memory-store.ts';
import type { PointsStore } from './stores/points-store.ts';
import type { PostgresCounts } from './stores/postgres-store.ts';
import { createRedisStore } from './stores/redis-store.ts';
import { StoreOutage } from './stores/store-outage.ts';

/** A limiter and what its health check asks. */
export interface StartedLimiter extends RateLimiter {
  /** Counts a point of a key that no client has, in the store itself. Rejects where the store is away. */
  checkStore(): Promise<unknown>;
}

export type StartedLimiters = Readonly<Partial<Record<LimiterName, StartedLimiter>>>;

export interface LimitersDeps {
  readonly redis: RedisConnection;
  readonly postgres: PostgresCounts;
  readonly log: Log;
}

const HEALTH_CHECK_KEY = 'health check';

/** Starts a limiter: opens its store. A store that is away does not reject. */
export type StartLimiter = (name: string, settings: LimiterSettings) => Promise<StartedLimiter>;

export function createLimiterStarter({ redis, postgres, log }: LimitersDeps): StartLimiter {
  const outages = { redis: new StoreOutage('redis', log), postgres: new StoreOutage('postgres', log) };

  async function openStore(name: string, { store, points, duration }: LimiterSettings): Promise<PointsStore> {
    if (store === 'redis') return createRedisStore(await redis.open(), { name, points, duration });
    return postgres.createStore({ name, duration });
  }

  return async (name, settings) => {
    const memory = createMemoryStore(settings);
    if (settings.store === 'memory')
      return { ...createRateLimiter(settings, memory), checkStore: () => memory.add(HEALTH_CHECK_KEY, 1) };
    const store = await openStore(name, settings);
    const insured = createInsuredStore({ store, memory, outage: outages[settings.store] });
    return { ...createRateLimiter(settings, insured), checkStore: () => withTimeout(store.add(HEALTH_CHECK_KEY, 1)) };
  };
}

/** Creates the limiters that are on. */
export async function createLimiters(enabled: EnabledLimiters, deps: LimitersDeps): Promise<StartedLimiters> {
  const start = createLimiterStarter(deps);
  const all = Object.entries(enabled) as [LimiterName, LimiterSettings][];
  return Object.fromEntries(
    await Promise.all(all.map(async ([name, settings]) => [name, await start(name, settings)] as const)),
  );
}
