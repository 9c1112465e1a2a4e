import type { MetricSource } from '../metrics/contract.ts';
import type { HealthReportDeps } from './health.ts';

/** The checks of `GET /server/health`, run by METRICS_SCHEDULE, since some of them write to storage. */
export const createHealthMetricSource = ({
  measure,
  checks: known,
}: Pick<HealthReportDeps, 'measure' | 'checks'>): MetricSource => ({
  service: 'health',
  collected: 'schedule',
  metrics: {
    health_check_ok: { kind: 'gauge', help: 'Health checks: 1 for ok, 0.5 for warn, 0 for error.' },
    health_check_value: { kind: 'gauge', help: 'What each health check observed, in the unit of its label.' },
  },
  async collect() {
    const { checks } = await measure(known());
    const all = Object.entries(checks).flatMap(([check, results]) => results.map((result) => ({ check, result })));
    return {
      health_check_ok: all.map(({ check, result }) => ({ labels: { check }, value: VALUES[result.status] })),
      health_check_value: all.flatMap(({ check, result: { observedValue: value, observedUnit: unit = '' } }) =>
        value === undefined ? [] : [{ labels: { check, unit }, value }],
      ),
    };
  },
});

const VALUES = { ok: 1, warn: 0.5, error: 0 } as const;
