import { randomUUID } from 'node:crypto';
import { BootFailure, VERSION } from '#kernel';

type Protocol = 'http/protobuf' | 'http/json';

export interface TelemetryConfig {
  OTEL_SDK_DISABLED: boolean;
  OTEL_SERVICE_NAME: string | undefined;
  OTEL_RESOURCE_ATTRIBUTES: string;
  OTEL_PROPAGATORS: 'tracecontext' | 'none';
  OTEL_TRACES_EXPORTER: 'otlp' | 'none' | undefined;
  OTEL_TRACES_SAMPLER: SamplerName;
  OTEL_TRACES_SAMPLER_ARG: number;
  OTEL_BSP_SCHEDULE_DELAY: number;
  OTEL_BSP_EXPORT_TIMEOUT: number;
  OTEL_BSP_MAX_QUEUE_SIZE: number;
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: number;
  OTEL_EXPORTER_OTLP_ENDPOINT: string | undefined;
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: string | undefined;
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: string | undefined;
  OTEL_EXPORTER_OTLP_HEADERS: string | undefined;
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: string | undefined;
  OTEL_EXPORTER_OTLP_METRICS_HEADERS: string | undefined;
  OTEL_EXPORTER_OTLP_PROTOCOL: Protocol;
  OTEL_EXPORTER_OTLP_TIMEOUT: number;
  OTEL_EXPORTER_OTLP_COMPRESSION: 'none' | 'gzip';
}

export type SamplerName =
  | 'always_on'
  | 'always_off'
  | 'traceidratio'
  | 'parentbased_always_on'
  | 'parentbased_always_off'
  | 'parentbased_traceidratio';

/** How one kind of data reaches the collector. */
export interface OtlpConnection {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly protocol: Protocol;
  /** Milliseconds of one export, its retries included. */
  readonly timeout: number;
  readonly compression: 'none' | 'gzip';
}

/** Attributes of everything that this process exports, such as `service.name`. */
export type ResourceAttributes = Readonly<Record<string, string>>;

export interface TraceSettings {
  readonly connection: OtlpConnection;
  readonly sampler: SamplerName;
  /** Share of the traces that `traceidratio` keeps, 0 to 1. */
  readonly ratio: number;
  /** Whether `traceparent` is read from requests and sent with requests to other servers. */
  readonly propagates: boolean;
  readonly batch: {
    /** Milliseconds. */
    readonly delay: number;
    /** Milliseconds. */
    readonly timeout: number;
    readonly queue: number;
    readonly size: number;
  };
}

export interface TelemetrySettings {
  readonly isDisabled: boolean;
  readonly resource: ResourceAttributes;
  readonly metrics: OtlpConnection;
  /** Undefined where traces are off. */
  readonly traces: TraceSettings | undefined;
}

/** The endpoint of the specification of OpenTelemetry where none is set. */
const DEFAULT_ENDPOINT = 'http://localhost:4318';

/** Reads all settings, whether traces are on or not. @throws BootFailure for values of the wrong form. */
export function parseTelemetrySettings(config: TelemetryConfig): TelemetrySettings {
  const {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_TRACES_EXPORTER: exporter,
    OTEL_SDK_DISABLED: isDisabled,
  } = config;
  const common = {
    protocol: config.OTEL_EXPORTER_OTLP_PROTOCOL,
    timeout: config.OTEL_EXPORTER_OTLP_TIMEOUT,
    compression: config.OTEL_EXPORTER_OTLP_COMPRESSION,
  };
  const connectionOf = (signal: 'TRACES' | 'METRICS'): OtlpConnection => {
    const own = config[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`];
    const general = `${(endpoint ?? DEFAULT_ENDPOINT).replace(/\/+$/, '')}/v1/${signal.toLowerCase()}`;
    const url = URL.parse(own ?? general);
    if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
      throw createConfigFailure(
        own === undefined ? 'OTEL_EXPORTER_OTLP_ENDPOINT' : `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`,
        'is no http: or https: address',
      );
    const name = `OTEL_EXPORTER_OTLP_${signal}_HEADERS` as const;
    const headers = {
      ...parsePairs('OTEL_EXPORTER_OTLP_HEADERS', config.OTEL_EXPORTER_OTLP_HEADERS),
      ...parsePairs(name, config[name]),
    };
    return { ...common, url: url.href, headers };
  };
  const traces: TraceSettings = {
    connection: connectionOf('TRACES'),
    sampler: config.OTEL_TRACES_SAMPLER,
    ratio: config.OTEL_TRACES_SAMPLER_ARG,
    propagates: config.OTEL_PROPAGATORS === 'tracecontext',
    batch: {
      delay: config.OTEL_BSP_SCHEDULE_DELAY,
      timeout: config.OTEL_BSP_EXPORT_TIMEOUT,
      queue: config.OTEL_BSP_MAX_QUEUE_SIZE,
      size: config.OTEL_BSP_MAX_EXPORT_BATCH_SIZE,
    },
  };
  const hasEndpoint = (endpoint ?? config.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) !== undefined;
  const isOn = !isDisabled && (exporter === 'otlp' || (exporter === undefined && hasEndpoint));
  return {
    isDisabled,
    resource: {
      'service.name': 'tenon',
      'service.version': VERSION,
      'service.instance.id': randomUUID(),
      ...parsePairs('OTEL_RESOURCE_ATTRIBUTES', config.OTEL_RESOURCE_ATTRIBUTES),
      ...(config.OTEL_SERVICE_NAME ? { 'service.name': config.OTEL_SERVICE_NAME } : {}),
    },
    metrics: connectionOf('METRICS'),
    traces: isOn ? traces : undefined,
  };
}

/** Parses `name=value,name=value`, with `%` escapes in values. */
function parsePairs(setting: string, text = ''): Record<string, string> {
  const pairs = text.split(',').filter((part) => part.trim() !== '');
  return Object.fromEntries(
    pairs.map((part) => {
      const at = part.indexOf('=');
      const name = part.slice(0, Math.max(0, at)).trim();
      if (name === '') throw createConfigFailure(setting, 'is no list such as name=value,name=value');
      try {
        return [name, decodeURIComponent(part.slice(at + 1).trim())];
      } catch {
        throw createConfigFailure(setting, `has a value of "${name}" that is not encoded correctly`);
      }
    }),
  );
}

const createConfigFailure = (setting: string, problem: string) =>
  new BootFailure('@tenon/telemetry', 'config', `${setting} ${problem}`, { remedy: `correct ${setting}` });
