import type { Redis } from 'ioredis';
import { service } from '#kernel';

/**
 * The client of the shared connection, for commands that answer at once. A subscription or a blocking command needs a connection
 * of its own: `client.duplicate()`, which its owner disconnects. While Redis is not reached, commands reject at once; a command
 * without an answer rejects after two seconds.
 */
export type RedisClient = Redis;

/** The one connection of this process to Redis, which is optional. */
export interface RedisConnection {
  /** Whether REDIS or REDIS_HOST names a server and REDIS_ENABLED is not false. */
  readonly isConfigured: boolean;
  /**
   * The client. The first call loads the library and connects, and resolves when that has succeeded or failed, after five seconds
   * at most: a Redis that is away does not reject. The client connects again by itself.
   * @throws INVALID_CONFIG where Redis is not configured.
   */
  open(): Promise<RedisClient>;
}

/** For core plugins, which keep their keys apart by a prefix: `<plugin>:`. */
export const redis = service<RedisConnection>('redis', { version: '1.0.0', coreOnly: true });
