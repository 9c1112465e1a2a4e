import type { Log } from '#kernel';

/** Logs the start and the end of an outage once each, however often the client tries to connect meanwhile. */
export interface RedisOutageLog {
  failed(error: unknown): void;
  recovered(): void;
}

export function createRedisOutageLog(log: Pick<Log, 'error' | 'warn'>, server: string): RedisOutageLog {
  let since: number | undefined;
  return {
    failed(error) {
      if (since !== undefined) return;
      since = performance.now();
      log.error({ server, reason: reasonOf(error) }, 'no connection to Redis');
    },
    recovered() {
      if (since === undefined) return;
      log.warn({ server, seconds: Math.round((performance.now() - since) / 1000) }, 'Redis is reached again');
      since = undefined;
    },
  };
}

/** A name with several addresses fails with an error that has a code and no message. */
const reasonOf = (error: unknown): string => {
  const { message, code } = Object(error) as { message?: string; code?: string };
  return message || code || 'the connection was closed';
};
