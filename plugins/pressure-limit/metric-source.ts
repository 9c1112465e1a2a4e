import type { MetricSource } from '../metrics/contract.ts';

/** Requests that were refused while the process was overloaded. */
export const createPressureMetricSource = (
  counts: { readonly refused: number },
  isOver: () => boolean,
): MetricSource => ({
  service: 'pressure-limiter',
  metrics: {
    pressure_limiter_refusals_total: {
      kind: 'counter',
      help: 'Requests that were refused while the process was overloaded.',
    },
    pressure_limiter_overloaded: { kind: 'gauge', help: '1 while the process is overloaded, else 0.' },
  },
  collect: () => ({
    pressure_limiter_refusals_total: [{ value: counts.refused }],
    pressure_limiter_overloaded: [{ value: isOver() ? 1 : 0 }],
  }),
});
