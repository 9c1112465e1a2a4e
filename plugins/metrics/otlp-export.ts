import { setTimeout as pause } from 'node:timers/promises';
import { emptyResource, resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader, type PushMetricExporter } from '@opentelemetry/sdk-metrics';
import type { Log } from '#kernel';
import type { OtlpMetricsExport } from '../telemetry/contract.ts';
import type { MetricsCollector } from './collector.ts';
import { toScopeMetrics } from './metric-data.ts';

/** Milliseconds that the last export may take when the service stops. */
const STOP_LIMIT = 2000;

interface ExportOptions extends Pick<OtlpMetricsExport, 'connection' | 'resource' | 'startDiagnosticLog'> {
  readonly collector: Pick<MetricsCollector, 'collect'>;
  /** Milliseconds. */
  readonly interval: number;
  /** Milliseconds. */
  readonly timeout: number;
  readonly log: Log;
}

/** Sends all metrics to a collector at intervals, and once more at the end. */
export async function startOtlpExport(options: ExportOptions): Promise<{ stop(): Promise<void> }> {
  const { collector, connection, resource, startDiagnosticLog, interval, timeout, log } = options;
  const reader = new PeriodicExportingMetricReader({
    exporter: await createExporter(connection),
    exportIntervalMillis: interval,
    exportTimeoutMillis: Math.min(timeout, interval),
    metricProducers: [
      {
        collect: async () => ({
          resourceMetrics: { resource: emptyResource(), scopeMetrics: toScopeMetrics(await collector.collect()) },
          errors: [],
        }),
      },
    ],
  });
  const endDiagnosticLog = await startDiagnosticLog(log);
  const provider = new MeterProvider({ resource: resourceFromAttributes(resource), readers: [reader] });
  return {
    async stop() {
      const failed = (error: unknown) =>
        log.warn(
          { reason: error instanceof Error ? error.message : String(error) },
          'the last metrics were not exported',
        );
      await Promise.race([provider.shutdown().catch(failed), pause(STOP_LIMIT, undefined, { ref: false })]);
      endDiagnosticLog();
    },
  };
}

/** The exporter of the chosen protocol; the code of the other one is not loaded. */
async function createExporter({
  url,
  headers,
  protocol,
  timeout,
  compression,
}: OtlpMetricsExport['connection']): Promise<PushMetricExporter> {
  const { OTLPMetricExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-metrics-otlp-http')
      : await import('@opentelemetry/exporter-metrics-otlp-proto');
  // The type of the option is an enumeration that its package does not export to others.
  return new OTLPMetricExporter({
    url,
    headers: { ...headers },
    timeoutMillis: timeout,
    compression: compression as never,
  });
}
