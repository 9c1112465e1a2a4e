import type { MetricSource } from '../metrics/contract.ts';

/** Processes of confined code by what they run. */
export const createSandboxMetricSource = (
  processes: () => Readonly<Record<'endpoints' | 'hooks', number>>,
): MetricSource => ({
  service: 'sandbox',
  metrics: {
    sandbox_processes: { kind: 'gauge', help: 'Processes of confined code: endpoints, with operations, and hooks.' },
  },
  collect: () => ({
    sandbox_processes: Object.entries(processes()).map(([kind, value]) => ({ labels: { kind }, value })),
  }),
});
