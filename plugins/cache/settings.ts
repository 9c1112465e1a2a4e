import { BootFailure, CastError, castSetting } from '#kernel';

/** The settings as the manifest declares them. Durations are milliseconds, sizes bytes. */
export interface CacheConfig {
  readonly CACHE_ENABLED: boolean;
  readonly CACHE_STORE: 'memory' | 'redis';
  readonly CACHE_NAMESPACE: string;
  readonly CACHE_TTL: number;
  readonly CACHE_MEMORY_MAX_SIZE: number;
  readonly CACHE_VALUE_MAX_SIZE: string;
  readonly CACHE_AUTO_PURGE: boolean;
  readonly CACHE_AUTO_PURGE_IGNORE_LIST: readonly string[];
  readonly CACHE_CONTROL_S_MAXAGE: number;
  readonly CACHE_STATUS_HEADER: string;
  readonly CACHE_SKIP_ALLOWED: boolean;
  readonly CACHE_HEALTHCHECK_THRESHOLD: number;
}

/** The settings in the form that the cache uses. */
export interface CacheSettings {
  readonly store: CacheConfig['CACHE_STORE'];
  /** Part of the keys in Redis. */
  readonly namespace: string;
  /** Milliseconds. */
  readonly ttl: number;
  /** Bytes of all answers in memory. */
  readonly maxSize: number;
  /** Bytes of one answer. */
  readonly maxAnswerSize: number;
  /** Clients have to revalidate: no `max-age`. */
  readonly revalidates: boolean;
  readonly ignoredCollections: readonly string[];
  /** Seconds. */
  readonly sharedMaxAge: number;
  /** Undefined where no header says whether an answer was cached. */
  readonly statusHeader: string | undefined;
  readonly isSkipAllowed: boolean;
}

/** The largest answer is this part of the memory by default, and at most a quarter, the share of answers that were used once. */
const DEFAULT_ANSWER_SHARE = 1 / 16;
const MAX_ANSWER_SHARE = 1 / 4;
const NAMESPACE = /^[\w:.-]{1,64}$/;
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/** @throws BootFailure with the remedy for values that make no sense together. */
export function createCacheSettings(config: CacheConfig, isRedisConfigured: boolean): CacheSettings {
  const { CACHE_STATUS_HEADER: statusHeader, CACHE_MEMORY_MAX_SIZE: maxSize } = config;
  if (statusHeader !== '' && !HEADER_NAME.test(statusHeader))
    throw refusal(
      `CACHE_STATUS_HEADER "${statusHeader}" is not the name of a header`,
      'use for example x-cache-status',
    );
  if (!NAMESPACE.test(config.CACHE_NAMESPACE))
    throw refusal(
      `CACHE_NAMESPACE "${config.CACHE_NAMESPACE}" is not a name`,
      'use up to 64 letters, digits and the characters _ : . -',
    );
  if (config.CACHE_ENABLED && config.CACHE_STORE === 'redis' && !isRedisConfigured)
    throw refusal(
      'CACHE_STORE is redis, and no Redis is configured',
      'set REDIS or REDIS_HOST, or CACHE_STORE=memory, which needs no Redis',
    );
  return {
    store: config.CACHE_STORE,
    namespace: config.CACHE_NAMESPACE,
    ttl: config.CACHE_TTL,
    maxSize,
    maxAnswerSize: parseMaxAnswerSize(config.CACHE_VALUE_MAX_SIZE, maxSize),
    revalidates: config.CACHE_AUTO_PURGE,
    ignoredCollections: config.CACHE_AUTO_PURGE_IGNORE_LIST,
    sharedMaxAge: config.CACHE_CONTROL_S_MAXAGE,
    statusHeader: statusHeader === '' ? undefined : statusHeader,
    isSkipAllowed: config.CACHE_SKIP_ALLOWED,
  };
}

function parseMaxAnswerSize(text: string, maxSize: number): number {
  if (/^(false|)$/i.test(text)) return Math.floor(maxSize * DEFAULT_ANSWER_SHARE);
  let size: number;
  try {
    size = castSetting(text, { type: 'size', minimum: 1 }) as number;
  } catch (error) {
    if (!(error instanceof CastError)) throw error;
    throw refusal(`CACHE_VALUE_MAX_SIZE ${error.message}, or false`, 'set CACHE_VALUE_MAX_SIZE to a size or to false');
  }
  if (size > maxSize * MAX_ANSWER_SHARE)
    throw refusal(
      'CACHE_VALUE_MAX_SIZE is more than a quarter of CACHE_MEMORY_MAX_SIZE',
      'raise CACHE_MEMORY_MAX_SIZE or lower CACHE_VALUE_MAX_SIZE',
    );
  return size;
}

const refusal = (message: string, remedy: string): BootFailure =>
  new BootFailure('@tenon/cache', 'config', message, { remedy });
