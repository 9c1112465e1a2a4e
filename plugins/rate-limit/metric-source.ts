import type { MetricSource } from '../metrics/contract.ts';
import type { StartedLimiters } from './limiters.ts';

/** Requests that each limiter has refused. */
export const createRateLimitMetricSource = (limiters: () => StartedLimiters): MetricSource => ({
  service: 'rate-limiter',
  metrics: {
    rate_limiter_refusals_total: { kind: 'counter', help: 'Requests over the limit of a limiter.' },
  },
  collect: () => ({
    rate_limiter_refusals_total: Object.entries(limiters()).map(([limiter, { counts }]) => ({
      labels: { limiter },
      value: counts.refused,
    })),
  }),
});
