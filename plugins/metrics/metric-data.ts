import { type HrTime, ValueType } from '@opentelemetry/api';
import { AggregationTemporality, DataPointType, type MetricData, type ScopeMetrics } from '@opentelemetry/sdk-metrics';
import { VERSION } from '#kernel';
import type { CollectedMetric } from './collector.ts';
import type { HistogramValue, MetricSample } from './contract.ts';

/** Nanoseconds since 1970, as OpenTelemetry has them. */
const toHrTime = (milliseconds: number): HrTime => [
  Math.floor(milliseconds / 1000),
  Math.floor((milliseconds % 1000) * 1e6),
];

/** The form in which the exporters of OpenTelemetry take metrics, for Prometheus and OTLP alike. */
export function toScopeMetrics(metrics: readonly CollectedMetric[]): ScopeMetrics[] {
  const startTime = toHrTime(performance.timeOrigin);
  const endTime = toHrTime(Date.now());
  return [
    {
      scope: { name: 'tenon', version: VERSION },
      metrics: metrics.map((one) => toMetricData(one, { startTime, endTime })),
    },
  ];
}

type Times = { readonly startTime: HrTime; readonly endTime: HrTime };

function toMetricData({ name, kind, help, samples }: CollectedMetric, times: Times): MetricData {
  const base = {
    descriptor: { name, description: help, unit: '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const pointOf = <T>({ labels }: MetricSample, value: T) => ({ ...times, attributes: { ...labels }, value });
  if (kind === 'histogram') {
    const dataPoints = samples.map((one) => pointOf(one, toHistogram(one.value as HistogramValue)));
    return { ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints };
  }
  const dataPoints = samples.map((one) => pointOf(one, one.value as number));
  return kind === 'counter'
    ? { ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
    : { ...base, dataPointType: DataPointType.GAUGE, dataPoints };
}

const toHistogram = ({ boundaries, counts, sum, count }: HistogramValue) => ({
  buckets: { boundaries: [...boundaries], counts: [...counts] },
  sum,
  count,
});
