import { definePlugin } from '#kernel';
import { createRedisConnection } from './connection.ts';
import { redis } from './contract.ts';
import manifest from './package.json' with { type: 'json' };
import { parseRedisServer, type RedisConfig } from './settings.ts';

export default definePlugin<RedisConfig>({
  manifest,
  register(host) {
    const { stop, ...service } = createRedisConnection(parseRedisServer(host.config), host.log);
    host.provide(redis, service);
    host.onStop(stop);
  },
});
