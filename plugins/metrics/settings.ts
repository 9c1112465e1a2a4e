import { BootFailure } from '#kernel';

export interface MetricsConfig {
  METRICS_ENABLED: boolean;
  METRICS_TOKENS: readonly string[];
  METRICS_SERVICES: readonly string[];
  METRICS_SCHEDULE: string;
  METRICS_NAME_PREFIX: string;
  METRICS_MAX_SERIES: number;
  OTEL_METRICS_EXPORTER: 'otlp' | 'none';
  OTEL_METRIC_EXPORT_INTERVAL: number;
  OTEL_METRIC_EXPORT_TIMEOUT: number;
}

export interface MetricsSettings {
  /** `GET /metrics` is served. */
  readonly isServed: boolean;
  /** Tokens of `Authorization: Metrics <token>`. */
  readonly tokens: readonly string[];
  /** The services that are measured; undefined for all. */
  readonly services: ReadonlySet<string> | undefined;
  /** A cron expression. */
  readonly schedule: string;
  readonly prefix: string;
  /** Series of one metric. */
  readonly maxSeries: number;
  /** Undefined where metrics are not exported by OTLP. */
  readonly push: { readonly interval: number; readonly timeout: number } | undefined;
}

/** Reads all settings, whether metrics are on or not. @throws BootFailure for a prefix that no name can begin with. */
export function parseMetricsSettings(config: MetricsConfig): MetricsSettings {
  const services = config.METRICS_SERVICES.filter((name) => name !== '');
  const push = { interval: config.OTEL_METRIC_EXPORT_INTERVAL, timeout: config.OTEL_METRIC_EXPORT_TIMEOUT };
  if (!/^(?:[a-z_][a-z0-9_]*)?$/i.test(config.METRICS_NAME_PREFIX))
    throw new BootFailure('@tenon/metrics', 'config', 'METRICS_NAME_PREFIX is not made of letters, digits and _', {
      remedy: 'correct METRICS_NAME_PREFIX',
    });
  return {
    isServed: config.METRICS_ENABLED,
    tokens: config.METRICS_TOKENS.filter((token) => token !== ''),
    services: services.length === 0 ? undefined : new Set(services),
    schedule: config.METRICS_SCHEDULE,
    prefix: config.METRICS_NAME_PREFIX,
    maxSeries: config.METRICS_MAX_SERIES,
    push: config.OTEL_METRICS_EXPORTER === 'otlp' ? push : undefined,
  };
}
