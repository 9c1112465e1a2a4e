import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { emptyResource } from '@opentelemetry/resources';
import type { CollectedMetric } from './collector.ts';
import { toScopeMetrics } from './metric-data.ts';

/** Names are complete already. Labels of the exporter's own, and metrics about it, would be the same in every line. */
const serializer = new PrometheusSerializer('', false, undefined, true, true);

/** The text format of Prometheus, version 0.0.4. */
export const renderPrometheusText = (metrics: readonly CollectedMetric[]): string =>
  `${serializer.serialize({ resource: emptyResource(), scopeMetrics: toScopeMetrics(metrics) }).trimEnd()}\n`;
