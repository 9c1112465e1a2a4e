import { type ContributionTo, definePlugin, middleware } from '#kernel';
import { migrations } from '../database/contract.ts';
import { routing } from '../http/contract.ts';
import type { MetricSource } from '../metrics/contract.ts';
import { redis } from '../redis/contract.ts';
import { type ScheduledJobHandle, schedule } from '../schedule/contract.ts';
import type { health } from '../server/contract.ts';
import { createAddressLimits } from './address-limits.ts';
import { createClientLimits } from './client-limits.ts';
import { addressLimits, clientLimits, type RateLimit, rateLimits } from './contract.ts';
import { createRateLimiterHealthCheck } from './health-checks.ts';
import type { StartedLimiters } from './limiters.ts';
import { createRateLimitMetricSource } from './metric-source.ts';
import { createAddressLimitMiddleware, createCallerLimitMiddleware } from './middleware.ts';
import manifest from './package.json' with { type: 'json' };
import { type LimiterName, parseLimiters, type RateLimitConfig } from './settings.ts';
import { STORE_TIMEOUT } from './stores/insured-store.ts';
import { createPostgresCounts, createRateLimitsMigration } from './stores/postgres-store.ts';

/** Milliseconds between two removals of ended windows from the database. */
const CLEANUP_INTERVAL = 60_000;

export default definePlugin<RateLimitConfig>({
  manifest,
  register(host) {
    const { config, db, log } = host;
    const used = host.use({ redis, routing, schedule });
    const enabled = parseLimiters(config, used.redis.isConfigured);
    const limitOf = (name: LimiterName): RateLimit | false => {
      const { points, duration } = enabled[name] ?? {};
      return points === undefined || duration === undefined ? false : { points, duration };
    };
    host.provide(rateLimits, { address: limitOf('address'), global: limitOf('global') });
    // The table is also there where another store is chosen: a migration that comes and goes would look like that of a newer version.
    host.contribute(migrations, createRateLimitsMigration(db));
    const postgres = createPostgresCounts(db, STORE_TIMEOUT);
    const deps = { redis: used.redis, postgres, log };
    const { RATE_LIMITER_STORE: chosen } = config;
    const store = chosen === 'redis' && !used.redis.isConfigured ? 'memory' : chosen;
    host.provide(clientLimits, createClientLimits({ ...deps, routing: used.routing, store }));
    let started: StartedLimiters = {};
    const limiters = () => started;
    const failedAuthenticationPoints = config.RATE_LIMITER_FAILED_AUTHENTICATION_POINTS;
    host.provide(addressLimits, createAddressLimits({ limiters, failedAuthenticationPoints }));
    let cleanup: ScheduledJobHandle | undefined;
    if ([store, ...Object.values(enabled).map((one) => one.store)].includes('postgres'))
      host.onStart(() => {
        cleanup = used.schedule.start({
          name: 'removal of ended rate limits',
          at: { every: CLEANUP_INTERVAL },
          log,
          run: postgres.removeEnded,
        });
      });
    host.onStop(() => cleanup?.stop());
    if (Object.keys(enabled).length === 0) return;

    host.contribute<MetricSource>('metrics.sources', createRateLimitMetricSource(limiters));
    if (enabled.address)
      host.contribute(
        middleware,
        createAddressLimitMiddleware({ routing: used.routing, limiters, failedAuthenticationPoints }),
      );
    if (enabled.user || enabled.token) host.contribute(middleware, createCallerLimitMiddleware(limiters));

    const checks = { address: 'rateLimiter', global: 'rateLimiterGlobal' } as const;
    for (const name of ['address', 'global'] as const)
      if (enabled[name])
        host.contribute<ContributionTo<typeof health>>(
          'health',
          createRateLimiterHealthCheck(checks[name], config.RATE_LIMITER_HEALTHCHECK_THRESHOLD, () => started[name]),
        );

    host.onStart(async () => {
      // Loads rate-limiter-flexible.
      const { createLimiters } = await import('./limiters.ts');
      started = await createLimiters(enabled, deps);
    });
  },
});
