import { BootFailure } from '#kernel';
import type { RateLimit } from './contract.ts';

/** Where points are counted. */
export type PointsStoreKind = 'memory' | 'redis' | 'postgres';

/** What a limiter counts by: client addresses, all requests together, users, static tokens. */
export type LimiterName = 'address' | 'global' | 'user' | 'token';

export interface LimiterSettings extends RateLimit {
  readonly store: PointsStoreKind;
}

type LimiterConfig<Prefix extends string> = Record<`${Prefix}_ENABLED`, boolean> &
  Record<`${Prefix}_POINTS` | `${Prefix}_DURATION`, number> &
  Record<`${Prefix}_STORE`, PointsStoreKind>;

export type RateLimitConfig = LimiterConfig<'RATE_LIMITER'> &
  LimiterConfig<'RATE_LIMITER_GLOBAL'> &
  LimiterConfig<'RATE_LIMITER_USER'> &
  LimiterConfig<'RATE_LIMITER_TOKEN'> & {
    RATE_LIMITER_FAILED_AUTHENTICATION_POINTS: number;
    RATE_LIMITER_HEALTHCHECK_THRESHOLD: number;
  };

/** The limiters that are on. */
export type EnabledLimiters = Readonly<Partial<Record<LimiterName, LimiterSettings>>>;

/** @throws BootFailure for a limit that could never be reached, and for a store that is not configured. */
export function parseLimiters(config: Readonly<RateLimitConfig>, hasRedis: boolean): EnabledLimiters {
  const limiters: EnabledLimiters = {
    ...(config.RATE_LIMITER_ENABLED && {
      address: {
        points: config.RATE_LIMITER_POINTS,
        duration: config.RATE_LIMITER_DURATION,
        store: config.RATE_LIMITER_STORE,
      },
    }),
    ...(config.RATE_LIMITER_GLOBAL_ENABLED && {
      global: {
        points: config.RATE_LIMITER_GLOBAL_POINTS,
        duration: config.RATE_LIMITER_GLOBAL_DURATION,
        store: config.RATE_LIMITER_GLOBAL_STORE,
      },
    }),
    ...(config.RATE_LIMITER_USER_ENABLED && {
      user: {
        points: config.RATE_LIMITER_USER_POINTS,
        duration: config.RATE_LIMITER_USER_DURATION,
        store: config.RATE_LIMITER_USER_STORE,
      },
    }),
    ...(config.RATE_LIMITER_TOKEN_ENABLED && {
      token: {
        points: config.RATE_LIMITER_TOKEN_POINTS,
        duration: config.RATE_LIMITER_TOKEN_DURATION,
        store: config.RATE_LIMITER_TOKEN_STORE,
      },
    }),
  };
  assertGlobalIsHigher(limiters);
  if (!hasRedis && Object.values(limiters).some(({ store }) => store === 'redis'))
    throw createConfigFailure(
      'a limiter counts in Redis, which is not configured',
      'set REDIS or REDIS_HOST, or choose memory or postgres as RATE_LIMITER_STORE',
    );
  return limiters;
}

function assertGlobalIsHigher({ address, global }: EnabledLimiters): void {
  if (!global) return;
  if (!address)
    throw createConfigFailure(
      'RATE_LIMITER_GLOBAL_ENABLED needs the limit of each address, without which one client uses up the limit of all',
      'set RATE_LIMITER_ENABLED=true',
    );
  if (global.points / global.duration > address.points / address.duration) return;
  throw createConfigFailure(
    `the global limit of ${describe(global)} is not higher than that of one address, ${describe(address)}`,
    'raise RATE_LIMITER_GLOBAL_POINTS or lower RATE_LIMITER_POINTS',
  );
}

const describe = ({ points, duration }: RateLimit): string => `${points} requests in ${duration} s`;

const createConfigFailure = (reason: string, remedy: string) =>
  new BootFailure('@tenon/rate-limit', 'config', reason, { remedy });
