import { definePlugin, middleware } from '#kernel';
import type { MetricSource } from '../metrics/contract.ts';
import { pressureLimit } from './contract.ts';
import { startLoadMeasurement } from './load-measurement.ts';
import { createPressureMetricSource } from './metric-source.ts';
import { createPressureLimit, createPressureLimitMiddleware } from './middleware.ts';
import manifest from './package.json' with { type: 'json' };
import { type PressureMonitor, startPressureMonitor } from './pressure-monitor.ts';
import { type PressureLimitConfig, parsePressureLimits, parseRetryAfter } from './settings.ts';

export default definePlugin<PressureLimitConfig>({
  manifest,
  register(host) {
    const { config, log } = host;
    let monitor: PressureMonitor | undefined;
    const counts = { refused: 0 };
    const retryAfter = config.PRESSURE_LIMITER_ENABLED ? parseRetryAfter(config) : undefined;
    const limit = createPressureLimit(() => monitor?.pressure, retryAfter, counts);
    host.provide(pressureLimit, limit);
    if (!config.PRESSURE_LIMITER_ENABLED) return;
    host.contribute<MetricSource>(
      'metrics.sources',
      createPressureMetricSource(counts, () => monitor?.pressure !== undefined),
    );
    const limits = parsePressureLimits(config);
    host.contribute(middleware, createPressureLimitMiddleware(limit));
    host.onStart(() => {
      const interval = config.PRESSURE_LIMITER_SAMPLE_INTERVAL;
      monitor = startPressureMonitor({ limits, interval, measurement: startLoadMeasurement(), log });
    });
    host.onStop(() => monitor?.stop());
  },
});
