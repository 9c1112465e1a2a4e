import type { DoctorCheck } from '../doctor/contract.ts';
import type { RedisConnection } from './contract.ts';

/** Whether the Redis of the settings answers. */
export const createRedisDoctorCheck = (redis: RedisConnection): DoctorCheck => ({
  name: 'redis',
  async run() {
    if (!redis.isConfigured) return [];
    try {
      await (await redis.open()).ping();
      return [{ status: 'ok', text: 'Redis answers' }];
    } catch (error) {
      const text = `Redis does not answer: ${(error as Error).message}`;
      return [{ status: 'fail', text, remedy: 'start it, or correct REDIS; without it memory or PostgreSQL is used' }];
    }
  },
});
