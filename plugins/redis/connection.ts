import type { Redis, RedisOptions } from 'ioredis';
import { fail, type Log } from '#kernel';
import type { RedisConnection } from './contract.ts';
import { createRedisOutageLog } from './outage-log.ts';
import type { RedisServer } from './settings.ts';

/** Milliseconds. */
const CONNECT_TIMEOUT = 3000;
const COMMAND_TIMEOUT = 2000;
/** Milliseconds that the first caller waits for the connection. */
const FIRST_CONNECT_TIMEOUT = 5000;
/** Milliseconds before the client connects again: doubled by each failure, up to the longest. */
const SHORTEST_RETRY_DELAY = 100;
const LONGEST_RETRY_DELAY = 5000;

const OPTIONS: RedisOptions = {
  lazyConnect: true,
  // Shown by `CLIENT LIST`.
  connectionName: 'tenon',
  connectTimeout: CONNECT_TIMEOUT,
  commandTimeout: COMMAND_TIMEOUT,
  // A server that takes commands and answers none loses its connection, and with it the commands that wait.
  socketTimeout: 2 * COMMAND_TIMEOUT,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  retryStrategy: (attempt) => Math.min(SHORTEST_RETRY_DELAY * 2 ** Math.min(attempt - 1, 10), LONGEST_RETRY_DELAY),
};

/** Creates the service `redis`; `stop` closes the connection for good. */
export function createRedisConnection(
  server: RedisServer | undefined,
  log: Log,
): RedisConnection & { stop(): Promise<void> } {
  let opened: Promise<Redis> | undefined;
  let isStopping = false;

  async function open({ address, url, options }: RedisServer): Promise<Redis> {
    const { Redis } = await import('ioredis');
    const all = { ...OPTIONS, ...options };
    const client = url === undefined ? new Redis(all) : new Redis(url, all);
    const outage = createRedisOutageLog(log, address);
    client.on('error', (error) => outage.failed(error));
    client.on('close', () => {
      if (!isStopping) outage.failed(undefined);
    });
    client.on('ready', () => outage.recovered());
    await connectOnce(client);
    return client;
  }

  return {
    isConfigured: server !== undefined,
    open: async () => {
      if (!server) throw fail('INVALID_CONFIG', 'Redis is not configured: set REDIS or REDIS_HOST.');
      opened ??= open(server);
      return opened;
    },
    async stop() {
      isStopping = true;
      (await opened)?.disconnect();
    },
  };
}

/** Resolves when the first attempt has succeeded, has failed, or takes too long. */
async function connectOnce(client: Redis): Promise<void> {
  const { promise: expired, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, FIRST_CONNECT_TIMEOUT);
  // The listener of `error` has logged the failure.
  await Promise.race([client.connect().catch(() => {}), expired]);
  clearTimeout(timer);
}
