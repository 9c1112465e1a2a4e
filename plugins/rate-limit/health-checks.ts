import type { HealthCheck } from '../server/contract.ts';
import type { StartedLimiter } from './limiters.ts';

/** Checks the store of a limiter. A store that is away is a warning: requests are counted by each process meanwhile. */
export const createRateLimiterHealthCheck = (
  name: string,
  threshold: number,
  limiter: () => StartedLimiter | undefined,
): HealthCheck => ({
  name: `${name}:responseTime`,
  componentType: 'ratelimiter',
  threshold,
  async check() {
    const begin = performance.now();
    const measure = () => Math.round((performance.now() - begin) * 1000) / 1000;
    try {
      await limiter()?.checkStore();
      return { value: measure() };
    } catch (error) {
      return { value: measure(), status: 'warn', output: error instanceof Error ? error.message : String(error) };
    }
  },
});
