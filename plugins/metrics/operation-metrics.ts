import type { ObservedOperation, OperationObserver } from '../telemetry/contract.ts';
import type { MetricDescription, MetricSource } from './contract.ts';
import { Histogram } from './library.ts';

/** Seconds. */
const SHORT = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Seconds. */
const LONG = [0.1, 0.5, 1, 5, 10, 30, 60, 300, 900];

/** The metric of each kind of operation, and the service that it belongs to. */
const METRICS = {
  statement: {
    service: 'database',
    metric: 'database_statement_duration_seconds',
    boundaries: SHORT,
    help: 'SQL statements by plugin, with their wait for a connection.',
  },
  request: {
    service: 'outbound',
    metric: 'outbound_request_duration_seconds',
    boundaries: SHORT,
    help: 'Requests to other servers by plugin or package, up to the headers of the answer.',
  },
  invocation: {
    service: 'sandbox',
    metric: 'sandbox_call_duration_seconds',
    boundaries: SHORT,
    help: 'Calls of confined code by package.',
  },
  job: {
    service: 'queue',
    metric: 'queue_run_duration_seconds',
    boundaries: LONG,
    help: 'Runs of background jobs by plugin and queue.',
  },
} as const;

export interface OperationMetrics {
  readonly observer: OperationObserver;
  readonly sources: readonly MetricSource[];
}

/** Durations of operations by their owner and outcome. Owners are plugins and packages, of which METRICS_MAX_SERIES bounds the number. */
export function createOperationMetrics(maxSeries: number): OperationMetrics {
  const histograms = Object.fromEntries(
    Object.entries(METRICS).map(([kind, { boundaries }]) => [
      kind,
      new Histogram(labelsOf(kind), boundaries, maxSeries),
    ]),
  ) as Record<ObservedOperation['kind'], Histogram>;
  const record = ({ kind, owner, name }: ObservedOperation, started: number, outcome: 'ok' | 'error') => {
    const values = kind === 'job' ? [owner, outcome, name] : [owner, outcome];
    histograms[kind].observe(values, (performance.now() - started) / 1000);
  };
  return {
    observer: {
      async run(operation, work) {
        const started = performance.now();
        try {
          const result = await work();
          record(operation, started, 'ok');
          return result;
        } catch (error) {
          record(operation, started, 'error');
          throw error;
        }
      },
    },
    sources: Object.entries(METRICS).map(([kind, { service, metric, help }]) => {
      const description: MetricDescription = { kind: 'histogram', help };
      const histogram = histograms[kind as ObservedOperation['kind']];
      return { service, metrics: { [metric]: description }, collect: () => ({ [metric]: histogram.samples() }) };
    }),
  };
}

const labelsOf = (kind: string): readonly string[] =>
  kind === 'job' ? ['owner', 'outcome', 'queue'] : ['owner', 'outcome'];
