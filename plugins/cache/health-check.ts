import type { HealthCheck } from '../server/contract.ts';
import type { RunningCache } from './start.ts';

/** `cache:responseTime`: `warn` also where the cache is on and stores nothing. */
export const createCacheHealthCheck = (
  running: () => Pick<RunningCache, 'store' | 'isActive'> | undefined,
  threshold: number,
): HealthCheck => ({
  name: 'cache:responseTime',
  componentType: 'cache',
  threshold,
  async check() {
    const cache = running();
    if (!cache?.isActive()) return { value: 0, status: 'warn' };
    try {
      return { value: await cache.store.measure() };
    } catch {
      // Answers are made without the cache.
      return { value: 0, status: 'warn' };
    }
  },
});
