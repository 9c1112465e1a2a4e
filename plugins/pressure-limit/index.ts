import { definePlugin, middleware } from '#kernel';
import type { MetricSource } from '../metrics/contract.ts';
import { startLoadMeasurement } from './load-measurement.ts';
import { createPressureMetricSource } from './metric-source.ts';
import { createPressureLimitMiddleware } from './middleware.ts';
import manifest from './package.json' with { type: 'json' };
import { type PressureMonitor, startPressureMonitor } from './pressure-monitor.ts';
import { type PressureLimitConfig, parsePressureLimits, parseRetryAfter } from './settings.ts';

export default definePlugin<PressureLimitConfig>({
  manifest,
  register(host) {
    const { config, log } = host;
    if (!config.PRESSURE_LIMITER_ENABLED) return;
    let monitor: PressureMonitor | undefined;
    const counts = { refused: 0 };
    host.contribute<MetricSource>(
      'metrics.sources',
      createPressureMetricSource(counts, () => monitor?.pressure !== undefined),
    );
    const limits = parsePressureLimits(config);
    const retryAfter = parseRetryAfter(config);
    host.contribute(
      middleware,
      createPressureLimitMiddleware(() => monitor?.pressure, retryAfter, counts),
    );
    host.onStart(() => {
      const interval = config.PRESSURE_LIMITER_SAMPLE_INTERVAL;
      monitor = startPressureMonitor({ limits, interval, measurement: startLoadMeasurement(), log });
    });
    host.onStop(() => monitor?.stop());
  },
});
