import { type Log, service } from '#kernel';
import type { OtlpConnection, ResourceAttributes } from './settings.ts';

export type { OtlpConnection, ResourceAttributes };

/** Work of the service that is measured and traced while metrics or traces are on. */
export interface ObservedOperation {
  /**
   * `statement`: one statement of a plugin, the wait for its connection included. `invocation`: one call of confined code. `job`: one
   * run of a background job. `request`: one request to another server, up to the headers of its answer.
   */
  readonly kind: 'statement' | 'invocation' | 'job' | 'request';
  /** Name of the plugin or package for which the work is done. */
  readonly owner: string;
  /** What is done, in a text with few values: an SQL command, an entry of a package, a queue; method and origin of a request. */
  readonly name: string;
  /** SQL text of a statement, with placeholders in place of values. */
  readonly text?: string;
  /** Adds a header to a request to another server before it is sent. */
  setHeader?(name: string, value: string): void;
}

/**
 * Measures or traces operations. The plugins `database`, `outbound`, `queue` and `sandbox` each have a facet of observers; without a
 * contribution they run their operations as if there were none.
 */
export interface OperationObserver {
  /** Runs `work` once, and settles as `work` does. */
  run<T>(operation: ObservedOperation, work: () => Promise<T>): Promise<T>;
}

/** Where metrics are exported by OTLP. */
export interface OtlpMetricsExport {
  /** OTEL_SDK_DISABLED. */
  readonly isDisabled: boolean;
  readonly resource: ResourceAttributes;
  readonly connection: OtlpConnection;
  /**
   * Writes problems that the libraries of OpenTelemetry report, such as failed exports, to a log: each once a minute, and ten at most.
   * Resolves with the function that ends that. Loads the API of OpenTelemetry.
   */
  startDiagnosticLog(log: Log): Promise<() => void>;
}

/** The connection for exports of metrics, whose headers may hold secrets. */
export const otlpMetricsExport = service<OtlpMetricsExport>('otlp', { version: '1.0.0', coreOnly: true });
