import { type ContributionTo, commands, definePlugin, middleware } from '#kernel';
import { access } from '../access/contract.ts';
import { bus } from '../cluster/contract.ts';
import { routes, routing } from '../http/contract.ts';
import type { MetricSource } from '../metrics/contract.ts';
import { query } from '../query/contract.ts';
import { redis } from '../redis/contract.ts';
import { rowChanges, schema } from '../schema/contract.ts';
import type { health } from '../server/contract.ts';
import { cacheCommand, clearCachesRoute } from './clear.ts';
import { createCacheHealthCheck } from './health-check.ts';
import { createCacheMetricSource } from './metric-source.ts';
import manifest from './package.json' with { type: 'json' };
import { type CacheConfig, createCacheSettings } from './settings.ts';
import type { RunningCache } from './start.ts';

export default definePlugin<CacheConfig>({
  manifest,
  register(host) {
    const { config, events, log } = host;
    const used = host.use({ access, bus, query, redis, routing, rowChanges, schema });
    const settings = createCacheSettings(config, used.redis.isConfigured);
    const isEnabled = config.CACHE_ENABLED;
    host.contribute(routes, clearCachesRoute(used.bus));
    host.contribute(commands, cacheCommand({ ...used, isEnabled }));
    if (!isEnabled) return;

    let running: RunningCache | undefined;
    host.contribute<MetricSource>(
      'metrics.sources',
      createCacheMetricSource(() => running?.counts),
    );
    host.contribute<ContributionTo<typeof health>>(
      'health',
      createCacheHealthCheck(() => running, config.CACHE_HEALTHCHECK_THRESHOLD),
    );
    host.contribute(middleware, {
      name: 'response cache',
      phase: 'cache',
      handle: (ctx, next) => (running ? running.handle(ctx, next) : next()),
    });
    host.onStart(async () => {
      const { startCache } = await import('./start.ts');
      running = await startCache({ ...used, settings, events, log });
    });
    host.onStop(async () => running?.stop());
  },
});
