import { type ContributionTo, definePlugin } from '#kernel';
import type { doctorChecks } from '../doctor/contract.ts';
import { createRedisConnection } from './connection.ts';
import { redis } from './contract.ts';
import { createRedisDoctorCheck } from './doctor-check.ts';
import manifest from './package.json' with { type: 'json' };
import { parseRedisServer, type RedisConfig } from './settings.ts';

export default definePlugin<RedisConfig>({
  manifest,
  register(host) {
    const { stop, ...service } = createRedisConnection(parseRedisServer(host.config), host.log);
    host.provide(redis, service);
    host.contribute<ContributionTo<typeof doctorChecks>>('doctor.checks', createRedisDoctorCheck(service));
    host.onStop(stop);
  },
});
